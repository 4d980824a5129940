export function UploadTrajectoriesWindow(_: { readonly onClose: () => void }) {
  return null;
}
