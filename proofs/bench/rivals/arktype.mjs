import { type } from "arktype";
import { stepsPointer } from "./pointer.mjs";

const requestType = type({
  "+": "reject",
  reference: "string",
  recipient: { "+": "reject", email: "string.email", "firstName?": "string", "name?": "string" },
  pledges: type({
    "+": "reject",
    impact: { "+": "reject", amount: "number > 0", offeringId: "string" },
    "detail?": {
      "+": "reject",
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
    "+": "reject",
    "date?": "string.date.iso",
    "phrase?": "string",
    "externalUrl?": "string.url",
  },
  "notifications?":
    "('Email' | 'MessagingServiceA' | 'MessagingServiceB' | 'MessagingServiceC')[] <= 3",
});

export function check(value) {
  const result = requestType(value);
  return result instanceof type.errors ? result : [];
}

export const pointer = (problem) => stepsPointer([...problem.path]);
export const touch = (problem) => problem.path.length + problem.message.length;
