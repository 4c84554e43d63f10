import { useForm } from "@tanstack/react-form";
import { createPledgeTransactionSchema } from "impact-pledge/validate";
import { createRoot } from "react-dom/client";

const defaultValues = {
  reference: "order-1",
  recipient: { email: "" },
  pledges: [{ impact: { amount: 1, offeringId: "tree" } }],
};

function Field({ form, name, id, read }) {
  return (
    <form.Field name={name}>
      {({ state, handleChange, handleBlur }) => (
        <>
          <input
            id={id}
            value={String(state.value)}
            onChange={({ target }) => handleChange(read(target.value))}
            onBlur={handleBlur}
          />
          <p id={`${id}-problem`}>{state.meta.errors.map(({ message }) => message).join(" ")}</p>
        </>
      )}
    </form.Field>
  );
}

function Order() {
  const form = useForm({
    defaultValues,
    validators: { onChange: createPledgeTransactionSchema },
    onSubmit: ({ value }) => {
      window.sent = value;
    },
  });
  const send = (event) => {
    event.preventDefault();
    form.handleSubmit();
  };
  return (
    <form onSubmit={send} noValidate>
      <Field form={form} id="email" name="recipient.email" read={String} />
      <Field form={form} id="amount" name="pledges[0].impact.amount" read={Number} />
      <button type="submit" id="send">
        Send
      </button>
    </form>
  );
}

createRoot(document.querySelector("#root")).render(<Order />);
