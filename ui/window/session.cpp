#include "ui/window/session.h"

#include <QCoreApplication>
#include <QFileInfo>
#include <QSettings>

#include "ui/context/stored.h"

namespace sonde::window {
namespace {

const QString kGroup = QStringLiteral("session");

QString key(const QString& pid) { return kGroup + QLatin1Char('/') + pid; }

/// Whether a number is that of another living process of this program; it may have gone to any other since.
bool isAlive(const QString& pid) {
    if (pid == QString::number(QCoreApplication::applicationPid())) return false;
    const QString program = QFileInfo(QStringLiteral("/proc/%1/exe").arg(pid)).symLinkTarget();
    return !program.isEmpty() && program == QFileInfo(QStringLiteral("/proc/self/exe")).symLinkTarget();
}

}  // namespace

void Session::note(const QStringList& locations) {
    const QString own = key(QString::number(QCoreApplication::applicationPid()));
    context::store(own, locations.isEmpty() ? QVariant() : QVariant(locations));
}

QStringList Session::takeLost() {
    context::waitUntilStored();
    QSettings settings;
    settings.beginGroup(kGroup);
    const QStringList pids = settings.childKeys();
    QStringList lost;
    for (const QString& pid : pids) {
        if (isAlive(pid)) continue;
        lost << settings.value(pid).toStringList();
        context::store(key(pid), {});
    }
    lost.removeDuplicates();
    return lost;
}

}  // namespace sonde::window
