package thinking

var Parse = parse
