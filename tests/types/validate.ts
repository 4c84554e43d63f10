// The result of `safeParse` is the request or its issues, however it is asked.
import { safeParse } from "impact-pledge";
import type {
  CreatePledgeTransactionRequest,
  Issue,
  SafeParseResult,
} from "impact-pledge/validate";

type Equal<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same = <A, B>(..._equal: Equal<A, B> extends true ? [] : [never]) => {};

export function parts(value: unknown): string {
  const { data, issues } = safeParse(value, { maxIssues: 1 });
  same<typeof data, CreatePledgeTransactionRequest | undefined>();
  if (issues) {
    same<typeof issues, Issue[]>();
    same<typeof data, undefined>();
    return issues.map(({ message }) => message).join();
  }
  same<typeof data, CreatePledgeTransactionRequest>();
  return data.reference;
}

export function whole(result: SafeParseResult): CreatePledgeTransactionRequest | Issue[] {
  if (result.issues) {
    same<typeof result.data, undefined>();
    return result.issues;
  }
  same<typeof result.issues, undefined>();
  return result.data;
}

export function byData(value: unknown): CreatePledgeTransactionRequest | Issue[] {
  const { data, issues } = safeParse(value);
  return data ? data : issues;
}

// @ts-expect-error there is no such option
safeParse({}, { maxIssue: 1 });
// @ts-expect-error it may have issues
safeParse({}).data.reference;
