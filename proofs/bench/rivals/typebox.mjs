import Type from "typebox";
import { Compile } from "typebox/compile";

const closed = { additionalProperties: false };
const text = Type.Optional(Type.String());
const uri = Type.Optional(Type.String({ format: "uri" }));
const service = Type.Enum(["Email", "MessagingServiceA", "MessagingServiceB", "MessagingServiceC"]);

const validator = Compile(
  Type.Object(
    {
      reference: Type.String(),
      recipient: Type.Object(
        { email: Type.String({ format: "email" }), firstName: text, name: text },
        closed,
      ),
      pledges: Type.Array(
        Type.Object(
          {
            impact: Type.Object(
              { amount: Type.Number({ exclusiveMinimum: 0 }), offeringId: Type.String() },
              closed,
            ),
            detail: Type.Optional(
              Type.Object(
                {
                  name: text,
                  description: text,
                  nounSingular: text,
                  nounPlural: text,
                  image: uri,
                  externalId: text,
                  externalUrl: uri,
                },
                closed,
              ),
            ),
          },
          closed,
        ),
        { minItems: 1 },
      ),
      trigger: Type.Optional(
        Type.Object(
          {
            date: Type.Optional(Type.String({ format: "date-time" })),
            phrase: text,
            externalUrl: uri,
          },
          closed,
        ),
      ),
      notifications: Type.Optional(Type.Array(service, { maxItems: 3 })),
    },
    closed,
  ),
);

export const check = (value) => (validator.Check(value) ? [] : validator.Errors(value));

export function pointer({ instancePath, params }) {
  const [member] = params?.requiredProperties ?? params?.additionalProperties ?? [];
  return member === undefined ? instancePath : `${instancePath}/${member}`;
}

export const touch = (problem) => problem.instancePath.length + problem.message.length;
