/** The contract's request (§4.1) as a JSON Schema, as a user of ajv would write it. */

const text = { type: "string" };
const uri = { type: "string", format: "uri" };
const object = (properties, required = []) => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});

const detail = object({
  name: text,
  description: text,
  nounSingular: text,
  nounPlural: text,
  image: uri,
  externalId: text,
  externalUrl: uri,
});
const impact = object({ amount: { type: "number", exclusiveMinimum: 0 }, offeringId: text }, [
  "amount",
  "offeringId",
]);

export const requestSchema = object(
  {
    reference: text,
    recipient: object({ email: { type: "string", format: "email" }, firstName: text, name: text }, [
      "email",
    ]),
    pledges: { type: "array", minItems: 1, items: object({ impact, detail }, ["impact"]) },
    trigger: object({
      date: { type: "string", format: "date-time" },
      phrase: text,
      externalUrl: uri,
    }),
    notifications: {
      type: "array",
      maxItems: 3,
      items: {
        type: "string",
        enum: ["Email", "MessagingServiceA", "MessagingServiceB", "MessagingServiceC"],
      },
    },
  },
  ["reference", "recipient", "pledges"],
);
