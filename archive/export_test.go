package archive

// ReadSessionFile is readSessionFile, for tests.
var ReadSessionFile = readSessionFile
