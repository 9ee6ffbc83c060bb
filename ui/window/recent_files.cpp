#include "ui/window/recent_files.h"

#include <QFileInfo>

#include "ui/context/stored.h"

namespace sonde::window {
namespace {

const QString kKey = QStringLiteral("recent");

}  // namespace

QStringList RecentFiles::list() { return context::stored(kKey).toStringList().mid(0, kMaxFiles); }

void RecentFiles::add(const QString& location) {
    const bool file = !location.startsWith(QLatin1String("zoo:"));
    const QString kept = file ? QFileInfo(location).absoluteFilePath() : location;
    QStringList all = list();
    all.removeAll(kept);
    all.prepend(kept);
    context::store(kKey, QStringList(all.mid(0, kMaxFiles)));
}

void RecentFiles::remove(const QString& location) {
    QStringList all = list();
    all.removeAll(location);
    context::store(kKey, all);
}

void RecentFiles::clear() { context::store(kKey, {}); }

QString shortLocation(const QString& location) {
    return location.startsWith(QLatin1String("zoo:")) ? location.mid(4) : QFileInfo(location).fileName();
}

}  // namespace sonde::window
