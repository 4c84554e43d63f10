import { standardSchemaResolver } from "@hookform/resolvers/standard-schema";
import { createPledgeTransactionSchema } from "impact-pledge/validate";
import { createRoot } from "react-dom/client";
import { useForm } from "react-hook-form";

const defaultValues = {
  reference: "order-1",
  recipient: { email: "" },
  pledges: [{ impact: { amount: 1, offeringId: "tree" } }],
};

function Order() {
  const { register, handleSubmit, formState } = useForm({
    resolver: standardSchemaResolver(createPledgeTransactionSchema),
    defaultValues,
  });
  const { errors } = formState;
  return (
    <form
      onSubmit={handleSubmit((order) => {
        window.sent = order;
      })}
      noValidate
    >
      <input id="email" {...register("recipient.email")} />
      <p id="email-problem">{errors.recipient?.email?.message}</p>
      <input
        id="amount"
        type="number"
        step="any"
        {...register("pledges.0.impact.amount", { valueAsNumber: true })}
      />
      <p id="amount-problem">{errors.pledges?.[0]?.impact?.amount?.message}</p>
      <button type="submit" id="send">
        Send
      </button>
    </form>
  );
}

createRoot(document.querySelector("#root")).render(<Order />);
