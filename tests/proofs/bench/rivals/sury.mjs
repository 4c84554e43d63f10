/** Sury. It reports only the first problem. */
import * as S from "sury";

// Refuses unknown members.
S.global({ defaultAdditionalItems: "strict" });

const text = S.optional(S.string);
const uri = S.optional(S.uri);

const requestSchema = S.schema({
  reference: S.string,
  recipient: { email: S.email, firstName: text, name: text },
  pledges: S.array(
    S.schema({
      impact: { amount: S.number.with(S.gt, 0), offeringId: S.string },
      detail: S.optional(
        S.schema({
          name: text,
          description: text,
          nounSingular: text,
          nounPlural: text,
          image: uri,
          externalId: text,
          externalUrl: uri,
        }),
      ),
    }),
  ).with(S.minLength, 1),
  trigger: S.optional(
    S.schema({ date: S.optional(S.isoDateTime), phrase: text, externalUrl: uri }),
  ),
  notifications: S.optional(
    S.array(S.union(["Email", "MessagingServiceA", "MessagingServiceB", "MessagingServiceC"])).with(
      S.maxLength,
      3,
    ),
  ),
});

const parse = S.parseAsResult(requestSchema);

export const check = (value) => {
  const result = parse(value);
  return result.success ? [] : [result.error];
};
export const touch = (problem) => problem.path.length + problem.message.length;
