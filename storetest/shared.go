package storetest

var sharedTests = []test{}
