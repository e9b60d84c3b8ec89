import { type Channel, cutToUnits } from '@muster/domain'
import { createTransport } from 'nodemailer'
import { attempt, readMessage } from './send-message.ts'

const SUBJECT_UNITS_MAX = 200

export interface MailSettings {
  /** SMTP_URL. */
  url: string
  /** SMTP_FROM. */
  from: string
}

/** Messages by e-mail, through the SMTP server of the operator. A repetition has the same Message-ID, by which mail programs recognise it. */
export function emailChannel({ url, from }: MailSettings): Channel {
  return {
    async send(delivery, signal) {
      const { heading, text } = readMessage(delivery)
      const transport = createTransport({
        url,
        connectionTimeout: 10_000,
        greetingTimeout: 10_000,
        socketTimeout: 15_000,
        disableFileAccess: true,
        disableUrlAccess: true,
      })
      const close = () => transport.close()
      signal.addEventListener('abort', close, { once: true })
      const seen = { status: null, retryAfterSeconds: null, response: null, refusal: null }
      const sending = attempt(seen, signal, () =>
        transport.sendMail({
          from,
          to: (delivery.receiver.options.to as string[]).join(', '),
          subject: cutToUnits(heading, SUBJECT_UNITS_MAX).text,
          text: text === '' ? heading : `${heading}\n\n${text}\n`,
          messageId: `<${delivery.id}@muster>`,
          headers: { 'Auto-Submitted': 'auto-generated' },
        }),
      )
      return await sending.finally(() => {
        signal.removeEventListener('abort', close)
        transport.close()
      })
    },
  }
}
