package storetest

var sweepTests = []test{}
