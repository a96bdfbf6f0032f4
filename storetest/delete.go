package storetest

var deleteTests = []test{}
