package storetest

var commitTests = []test{}
