package storetest

var valueTests = []test{}
