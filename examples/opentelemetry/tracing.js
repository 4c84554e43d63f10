/** OpenTelemetry for `PledgeClient`: a span for each request, with the semantic conventions for HTTP clients. */
import { SpanKind, SpanStatusCode, context, propagation, trace } from "@opentelemetry/api";

/** Returns hooks for a client. Their spans are children of the span that is active when a call begins. */
export function tracing(tracer = trace.getTracer("impact-pledge")) {
  const spans = new Map(); // by call, because a call sends one request at a time

  function end(callId, attributes) {
    const span = spans.get(callId).setAttributes(attributes);
    if (attributes["error.type"]) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end();
    spans.delete(callId);
  }

  return {
    onRequest({ callId, attempt, method, url }) {
      const { hostname, port, protocol } = new URL(url);
      const attributes = {
        "http.request.method": method,
        "server.address": hostname,
        "server.port": Number(port) || (protocol === "https:" ? 443 : 80),
        "url.full": url,
        ...(attempt > 1 && { "http.request.resend_count": attempt - 1 }),
      };
      spans.set(callId, tracer.startSpan(method, { kind: SpanKind.CLIENT, attributes }));
    },
    // After each request, one of these runs.
    onResponse({ callId, status }) {
      const error = status >= 400 && { "error.type": String(status) };
      end(callId, { "http.response.status_code": status, ...error });
    },
    onError({ callId, reason, error }) {
      if (error instanceof Error) spans.get(callId).recordException(error);
      end(callId, { "error.type": reason });
    },
  };
}

/** Returns headers for the option `headers` of a call, by which the service continues the active trace. */
export function traceHeaders() {
  const headers = {};
  propagation.inject(context.active(), headers);
  return headers;
}
