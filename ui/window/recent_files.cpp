#include "ui/window/recent_files.h"

#include <QFileInfo>
#include <QSettings>

namespace sonde::window {
namespace {

const QString kKey = QStringLiteral("recent");

}  // namespace

QStringList RecentFiles::list() { return QSettings().value(kKey).toStringList().mid(0, kMost); }

void RecentFiles::add(const QString& location) {
    const bool file = !location.startsWith(QLatin1String("zoo:"));
    const QString kept = file ? QFileInfo(location).absoluteFilePath() : location;
    QStringList all = list();
    all.removeAll(kept);
    all.prepend(kept);
    QSettings().setValue(kKey, QStringList(all.mid(0, kMost)));
}

void RecentFiles::remove(const QString& location) {
    QStringList all = list();
    all.removeAll(location);
    QSettings().setValue(kKey, all);
}

void RecentFiles::clear() { QSettings().remove(kKey); }

QString shortLocation(const QString& location) {
    return location.startsWith(QLatin1String("zoo:")) ? location.mid(4) : QFileInfo(location).fileName();
}

}  // namespace sonde::window
