import { type } from "arktype";

const requestSchema = type({
  reference: "string",
  recipient: { email: "string.email", "firstName?": "string", "name?": "string" },
  pledges: type({
    impact: { amount: "number > 0", offeringId: "string" },
    "detail?": {
      "name?": "string",
      "description?": "string",
      "nounSingular?": "string",
      "nounPlural?": "string",
      "image?": "string.url",
      "externalId?": "string",
      "externalUrl?": "string.url",
    },
  })
    .array()
    .atLeastLength(1),
  "trigger?": {
    "date?": "string.date.iso",
    "phrase?": "string",
    "externalUrl?": "string.url",
  },
  "notifications?": type(
    "('Email' | 'MessagingServiceA' | 'MessagingServiceB' | 'MessagingServiceC')[] <= 3",
  ),
}).onDeepUndeclaredKey("reject");

const NONE = [];

export const check = (value) => {
  const result = requestSchema(value);
  return result instanceof type.errors ? result : NONE;
};
export const touch = (problem) => problem.path.length + problem.message.length;
