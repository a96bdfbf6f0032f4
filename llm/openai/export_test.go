package openai

var Resolve = resolve
