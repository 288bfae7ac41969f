// otlp reads a request of OTLP's JSON (ExportTraceServiceRequest) on standard input, by the protocol's own messages, and writes its spans,
// one a line: trace, span, parent, kind, start, end, name. What the protocol does not have, or has otherwise, is an error.
package main

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"

	trace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	var document any
	if err := json.Unmarshal(text, &document); err != nil {
		return err
	}
	if err := idsAsBase64(document); err != nil {
		return err
	}
	if text, err = json.Marshal(document); err != nil {
		return err
	}
	var request trace.ExportTraceServiceRequest
	if err := protojson.Unmarshal(text, &request); err != nil {
		return err
	}
	for _, resource := range request.ResourceSpans {
		for _, scope := range resource.ScopeSpans {
			for _, span := range scope.Spans {
				if len(span.TraceId) != 16 || len(span.SpanId) != 8 || (len(span.ParentSpanId) != 0 && len(span.ParentSpanId) != 8) {
					return fmt.Errorf("%q has ids of a wrong length", span.Name)
				}
				fmt.Printf("%x %x %x %d %d %d %q\n", span.TraceId, span.SpanId, span.ParentSpanId, span.Kind, span.StartTimeUnixNano, span.EndTimeUnixNano, span.Name)
			}
		}
	}
	return nil
}

// OTLP's JSON differs from that of protobuf in this: ids are hexadecimal, and enums are numbers alone.
func idsAsBase64(value any) error {
	switch value := value.(type) {
	case []any:
		for _, one := range value {
			if err := idsAsBase64(one); err != nil {
				return err
			}
		}
	case map[string]any:
		for key, one := range value {
			switch key {
			case "traceId", "spanId", "parentSpanId":
				text, _ := one.(string)
				bytes, err := hex.DecodeString(text)
				if err != nil {
					return fmt.Errorf("%s: %w", key, err)
				}
				value[key] = base64.StdEncoding.EncodeToString(bytes)
			case "kind", "code":
				if _, isNumber := one.(float64); !isNumber {
					return fmt.Errorf("%s is no number", key)
				}
			default:
				if err := idsAsBase64(one); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
