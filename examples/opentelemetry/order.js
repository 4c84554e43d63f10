/** Records one pledge and prints its spans. In your shop, `NodeSDK` or your own set-up of OpenTelemetry replaces the provider. */
import { trace } from "@opentelemetry/api";
import {
  ConsoleSpanExporter,
  NodeTracerProvider,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-node";
import { PledgeClient } from "impact-pledge";
import { traceHeaders, tracing } from "./tracing.js";

const exporter = new ConsoleSpanExporter();
new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).register();

const client = PledgeClient.fromEnv(tracing());
const [, , number = "order-1", email = "ada@example.org"] = process.argv;

await trace.getTracer("shop").startActiveSpan(`pledge for ${number}`, async (span) => {
  const payload = {
    reference: number,
    recipient: { email },
    pledges: [{ impact: { amount: 1, offeringId: "tree" } }],
  };
  const options = { idempotencyKey: `web:shop.example.org:${number}`, headers: traceHeaders() };
  try {
    const { timelineUrl } = await client.createPledgeTransaction(payload, options);
    console.log(timelineUrl);
  } finally {
    span.end();
  }
});
