package storetest

var writerTests = []test{}
