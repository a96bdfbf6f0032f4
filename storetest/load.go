package storetest

var loadTests = []test{}
