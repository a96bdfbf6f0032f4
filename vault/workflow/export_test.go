package workflow

var Shipped = shippedDefinitions
