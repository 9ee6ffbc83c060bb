#include "ui/window/session.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QFileInfo>
#include <QSettings>

#include <algorithm>

#include "ui/context/stored.h"

namespace sonde::window {
namespace {

const QString kGroup = QStringLiteral("session"), kModels = QStringLiteral("/models"), kTime = QStringLiteral("/time");

QString key(const QString& pid) { return kGroup + QLatin1Char('/') + pid; }

/// Whether this process has written what it has open: before that, an entry of its number is an earlier one's.
bool g_hasNoted = false;

/// Whether a number is that of a living process of this program; it may have gone to any other since.
bool isAlive(const QString& pid) {
    if (pid == QString::number(QCoreApplication::applicationPid())) return g_hasNoted;
    const QString program = QFileInfo(QStringLiteral("/proc/%1/exe").arg(pid)).symLinkTarget();
    return !program.isEmpty() && program == QFileInfo(QStringLiteral("/proc/self/exe")).symLinkTarget();
}

/// Processes that ended without having said so; the last of them at the end.
QStringList lostProcesses() {
    context::waitUntilStored();
    QSettings settings;
    settings.beginGroup(kGroup);
    QStringList pids;
    for (const QString& pid : settings.childGroups())
        if (!isAlive(pid)) pids << pid;
    const auto time = [&settings](const QString& pid) { return settings.value(pid + kTime).toLongLong(); };
    std::ranges::stable_sort(pids, {}, time);
    return pids;
}

}  // namespace

void Session::note(const QStringList& locations) {
    const QString own = key(QString::number(QCoreApplication::applicationPid()));
    g_hasNoted = true;
    if (locations.isEmpty()) return context::store(own, {});
    context::store(own + kModels, locations);
    context::store(own + kTime, QDateTime::currentMSecsSinceEpoch());
}

QStringList Session::lost() {
    QStringList pids = lostProcesses();
    if (pids.isEmpty()) return {};
    const QString last = pids.takeLast();
    for (const QString& pid : pids) context::store(key(pid), {});
    QStringList models = QSettings().value(key(last) + kModels).toStringList();
    models.removeDuplicates();
    return models;
}

void Session::forgetLost() {
    for (const QString& pid : lostProcesses()) context::store(key(pid), {});
}

}  // namespace sonde::window
