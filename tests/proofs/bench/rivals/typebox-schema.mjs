/** The contract's request (§4.1), as a user of TypeBox would write it. Both major lines have these functions. */

const STRICT = { additionalProperties: false };

/** @param {any} Type the functions of one line of TypeBox */
export function typeboxSchema(Type) {
  const text = Type.Optional(Type.String());
  const uri = Type.Optional(Type.String({ format: "uri" }));
  const detail = {
    name: text,
    description: text,
    nounSingular: text,
    nounPlural: text,
    image: uri,
    externalId: text,
    externalUrl: uri,
  };
  const impact = { amount: Type.Number({ exclusiveMinimum: 0 }), offeringId: Type.String() };
  const services = ["Email", "MessagingServiceA", "MessagingServiceB", "MessagingServiceC"];
  return Type.Object(
    {
      reference: Type.String(),
      recipient: Type.Object(
        { email: Type.String({ format: "email" }), firstName: text, name: text },
        STRICT,
      ),
      pledges: Type.Array(
        Type.Object(
          {
            impact: Type.Object(impact, STRICT),
            detail: Type.Optional(Type.Object(detail, STRICT)),
          },
          STRICT,
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
          STRICT,
        ),
      ),
      notifications: Type.Optional(
        Type.Array(Type.Union(services.map((service) => Type.Literal(service))), { maxItems: 3 }),
      ),
    },
    STRICT,
  );
}
