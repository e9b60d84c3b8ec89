/** Text in fixed width, exactly as it is. Long lines scroll, also by keyboard. */
export function CodeBlock({ text }: { text: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by keyboard.
    <pre className="code" tabIndex={0}>
      {text}
    </pre>
  )
}
