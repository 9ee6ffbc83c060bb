#include "ui/context/file_watch.h"

#include <QFileInfo>

namespace sonde::context {

FileWatch::FileWatch(QObject* parent) : QObject(parent) {
    m_pause.setSingleShot(true);
    m_pause.setInterval(400);
    for (const auto signal : {&QFileSystemWatcher::fileChanged, &QFileSystemWatcher::directoryChanged})
        connect(&m_watcher, signal, this, [this] {
            m_pause.start();
            Q_EMIT touched();
        });
    connect(&m_pause, &QTimer::timeout, this, &FileWatch::look);
}

void FileWatch::watch(const QString& path, const QStringList& others) {
    const QStringList before = m_watcher.files() + m_watcher.directories();
    if (!before.isEmpty()) m_watcher.removePaths(before);
    m_pause.stop();
    for (const QString& other : others)
        if (QFileInfo(other).isFile()) m_watcher.addPath(QFileInfo(other).absoluteFilePath());
    const QFileInfo file(path);
    m_path = file.isFile() ? file.absoluteFilePath() : QString();
    if (m_path.isEmpty()) return;
    m_modified = file.lastModified();
    m_size = file.size();
    m_watcher.addPaths({m_path, file.absolutePath()});
}

void FileWatch::look() {
    const QFileInfo file(m_path);
    if (m_path.isEmpty() || !file.isFile()) return;
    // A replaced file is another one: it is watched anew.
    if (!m_watcher.files().contains(m_path)) m_watcher.addPath(m_path);
    if (file.lastModified() == m_modified && file.size() == m_size) return;
    const bool quiet = file.lastModified().msecsTo(QDateTime::currentDateTime()) > m_pause.interval() / 2;
    if (!quiet) return m_pause.start();  // still being written
    m_modified = file.lastModified();
    m_size = file.size();
    Q_EMIT changed();
}

}  // namespace sonde::context
