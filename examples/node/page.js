/** Returns the page with the form: empty, or as it was posted with each problem at its field. */
export function page({ values = new URLSearchParams(), issues = [], message = "" } = {}) {
  const field = (label, name, type) => {
    const problem = issues.find((issue) => issue.name === name);
    const state = problem ? `aria-invalid="true" aria-describedby="${name}-problem"` : "";
    return `<p>
        <label for="${name}">${label}</label>
        <input id="${name}" name="${name}" type="${type}" value="${escapeHtml(values.get(name) ?? "")}" ${state}>
        <span id="${name}-problem">${escapeHtml(problem?.message ?? "")}</span>
      </p>`;
  };
  const elsewhere = issues
    .filter(({ name }) => name === null)
    .map(({ pointer, message }) => `${pointer} ${message}`);
  return `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>Plant trees with your order</title>
</head>
<body>
  <main>
    <h1>Plant trees with your order</h1>
    <form method="post" action="/orders">
      <input type="hidden" name="reference" value="order-1001">
      <input type="hidden" name="pledges.0.impact.offeringId" value="tree">
      ${field("Trees", "pledges.0.impact.amount", "number")}
      ${field("E-mail address", "recipient.email", "text")}
      <button type="submit">Place order</button>
      <p role="status">${escapeHtml([message, ...elsewhere].join(" "))}</p>
    </form>
  </main>
</body>
</html>
`;
}

const escapeHtml = (text) =>
  text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
