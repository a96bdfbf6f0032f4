package storetest

var waitTests = []test{}
