/**
 * How deliveries are sent: one channel for each kind of receiver, behind one port (`Channel` of the domain). A channel attempts once and says how it ended;
 * when to try again, and what is stored, is decided elsewhere.
 */
export { createChannels, createChatClient } from './channels.ts'
export { createBotPace } from './telegram-pace.ts'
