/** Archives: files of rows with their manifests, in a folder or in a store that speaks the protocol of S3. */
export { createArchive, openArchive } from './archive.ts'
export { folderStore } from './folder-store.ts'
export { type S3Settings, s3Store } from './s3-store.ts'
export type { ArchiveStore } from './store.ts'
