/** A text of the document; what stands between backticks is code. */
export function Words({ text }: { text: string }) {
  const parts = text.split('`');
  return (
    <>{parts.map((part, index) => (index % 2 === 1 ? <code key={`${index} ${part}`}>{part}</code> : part))}</>
  );
}
