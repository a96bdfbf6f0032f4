package telemetry

import (
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/protobuf/encoding/protowire"
)

// The field numbers of opentelemetry/proto/trace/v1/trace.proto and common.proto that are used.
const (
	spanTraceID, spanID, spanTraceState, spanParent, spanName, spanKind  = 1, 2, 3, 4, 5, 6
	spanBegin, spanEnd, spanAttributes, spanLinks, spanStatus, spanFlags = 7, 8, 9, 13, 15, 16

	linkTraceID, linkSpanID, linkTraceState, linkFlags = 1, 2, 3, 6

	statusCode, statusError = 3, 2

	keyValueKey, keyValueValue          = 1, 2
	anyString, anyInt, anyArray, values = 1, 3, 5, 1

	flagKnown, flagRemote = 0x100, 0x200 // it is known whether the parent is remote; it is
)

// appendSpan appends a span that has ended, without its tag and length.
func appendSpan(b []byte, s *span, e *ended) []byte {
	trace, id := s.context.TraceID(), s.context.SpanID()
	b = appendBytes(b, spanTraceID, trace[:])
	b = appendBytes(b, spanID, id[:])
	b = appendState(b, spanTraceState, s.context.TraceState())
	if s.above.IsValid() {
		b = appendBytes(b, spanParent, s.above[:])
	}
	b = protowire.AppendTag(b, spanName, protowire.BytesType)
	b = protowire.AppendString(b, e.name)
	b = appendVarint(b, spanKind, uint64(s.kind)) // numbered alike
	b = appendTime(b, spanBegin, s.begin.UnixNano())
	b = appendTime(b, spanEnd, e.at.UnixNano())
	b = append(b, e.shared...)
	b = appendAttributes(b, spanAttributes, e.own)
	if e.link.IsValid() {
		b = appendLink(b, e.link)
	}
	if e.failed {
		b = protowire.AppendTag(b, spanStatus, protowire.BytesType)
		b = protowire.AppendVarint(b, 2)
		b = appendVarint(b, statusCode, statusError)
	}
	return appendFlags(b, spanFlags, s.context.TraceFlags(), s.remote)
}

func appendLink(b []byte, to trace.SpanContext) []byte {
	var buf [128]byte
	trace, id := to.TraceID(), to.SpanID()
	link := appendBytes(buf[:0], linkTraceID, trace[:])
	link = appendBytes(link, linkSpanID, id[:])
	link = appendState(link, linkTraceState, to.TraceState())
	return appendBytes(b, spanLinks, appendFlags(link, linkFlags, to.TraceFlags(), to.IsRemote()))
}

func appendState(b []byte, field protowire.Number, s trace.TraceState) []byte {
	if s.Len() == 0 {
		return b
	}
	b = protowire.AppendTag(b, field, protowire.BytesType)
	return protowire.AppendString(b, s.String())
}

func appendFlags(b []byte, field protowire.Number, own trace.TraceFlags, remote bool) []byte {
	flags := uint32(own) | flagKnown
	if remote {
		flags |= flagRemote
	}
	b = protowire.AppendTag(b, field, protowire.Fixed32Type)
	return protowire.AppendFixed32(b, flags)
}

func appendTime(b []byte, field protowire.Number, nano int64) []byte {
	b = protowire.AppendTag(b, field, protowire.Fixed64Type)
	return protowire.AppendFixed64(b, uint64(max(0, nano)))
}

func appendBytes(b []byte, field protowire.Number, v []byte) []byte {
	b = protowire.AppendTag(b, field, protowire.BytesType)
	return protowire.AppendBytes(b, v)
}

func appendVarint(b []byte, field protowire.Number, v uint64) []byte {
	b = protowire.AppendTag(b, field, protowire.VarintType)
	return protowire.AppendVarint(b, v)
}

// appendAttributes appends attributes as fields of a message. Values of other types than this
// package and resources have are left out.
func appendAttributes(b []byte, field protowire.Number, attributes []attribute.KeyValue) []byte {
	for i := range attributes {
		a := &attributes[i]
		key := protowire.SizeTag(keyValueKey) + protowire.SizeBytes(len(a.Key))
		value := sizeValue(a.Value)
		b = protowire.AppendTag(b, field, protowire.BytesType)
		b = protowire.AppendVarint(b, uint64(key+protowire.SizeTag(keyValueValue)+protowire.SizeBytes(value)))
		b = protowire.AppendTag(b, keyValueKey, protowire.BytesType)
		b = protowire.AppendString(b, string(a.Key))
		b = protowire.AppendTag(b, keyValueValue, protowire.BytesType)
		b = protowire.AppendVarint(b, uint64(value))
		b = appendValue(b, a.Value)
	}
	return b
}

// sizeValue returns how many bytes appendValue appends.
func sizeValue(v attribute.Value) int {
	switch v.Type() {
	case attribute.STRING:
		return protowire.SizeTag(anyString) + protowire.SizeBytes(len(v.AsString()))
	case attribute.INT64:
		return protowire.SizeTag(anyInt) + protowire.SizeVarint(uint64(v.AsInt64()))
	case attribute.STRINGSLICE:
		return protowire.SizeTag(anyArray) + protowire.SizeBytes(sizeArray(v.AsStringSlice()))
	}
	return 0
}

func sizeArray(all []string) (size int) {
	for _, s := range all {
		size += protowire.SizeTag(values) + protowire.SizeBytes(protowire.SizeTag(anyString)+protowire.SizeBytes(len(s)))
	}
	return size
}

// appendValue appends an AnyValue.
func appendValue(b []byte, v attribute.Value) []byte {
	switch v.Type() {
	case attribute.STRING:
		b = protowire.AppendTag(b, anyString, protowire.BytesType)
		return protowire.AppendString(b, v.AsString())
	case attribute.INT64:
		return appendVarint(b, anyInt, uint64(v.AsInt64()))
	case attribute.STRINGSLICE:
		all := v.AsStringSlice()
		b = protowire.AppendTag(b, anyArray, protowire.BytesType)
		b = protowire.AppendVarint(b, uint64(sizeArray(all)))
		for _, s := range all {
			b = protowire.AppendTag(b, values, protowire.BytesType)
			b = protowire.AppendVarint(b, uint64(protowire.SizeTag(anyString)+protowire.SizeBytes(len(s))))
			b = protowire.AppendTag(b, anyString, protowire.BytesType)
			b = protowire.AppendString(b, s)
		}
	}
	return b
}
