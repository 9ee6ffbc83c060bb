#include "ui/window/last_folder.h"

#include <QFileInfo>

#include "ui/context/stored.h"

namespace sonde::window {

namespace {

const QString kFolder = QStringLiteral("files/folder");

}  // namespace

QString lastFolder() { return context::stored(kFolder).toString(); }
void keepFolder(const QString& file) { context::store(kFolder, QFileInfo(file).absolutePath()); }

}  // namespace sonde::window
