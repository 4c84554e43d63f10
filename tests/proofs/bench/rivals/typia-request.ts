/** The contract's request (§4.1), as a user of typia would write it. `validate/typia.mjs` compiles this file. */
import typia, { type tags } from "typia";

type Uri = string & tags.Format<"uri">;
type Service = "Email" | "MessagingServiceA" | "MessagingServiceB" | "MessagingServiceC";

interface Request {
  reference: string;
  recipient: { email: string & tags.Format<"email">; firstName?: string; name?: string };
  pledges: Pledge[] & tags.MinItems<1>;
  trigger?: { date?: string & tags.Format<"date-time">; phrase?: string; externalUrl?: Uri };
  notifications?: Service[] & tags.MaxItems<3>;
}

interface Pledge {
  impact: { amount: number & tags.ExclusiveMinimum<0>; offeringId: string };
  detail?: {
    name?: string;
    description?: string;
    nounSingular?: string;
    nounPlural?: string;
    image?: Uri;
    externalId?: string;
    externalUrl?: Uri;
  };
}

export const validate = typia.createValidateEquals<Request>();
