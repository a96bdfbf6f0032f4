package storetest

var listTests = []test{}
