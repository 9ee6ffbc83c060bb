#pragma once

#include <QDateTime>
#include <QFileSystemWatcher>
#include <QObject>
#include <QTimer>

namespace sonde::context {

/// Tells when a file has another content than before: also when it was replaced by renaming another one, as exporters
/// do. changed() is told once writing has paused, and never for a file that is gone; touched() at once and for anything
/// that may be a change.
class FileWatch : public QObject {
    Q_OBJECT
  public:
    explicit FileWatch(QObject* parent = nullptr);

    /// Replaces what was watched; anything that is no file of this machine ("zoo:resnet18", "") is not. For `others`
    /// there is touched() alone.
    void watch(const QString& path, const QStringList& others = {});

  Q_SIGNALS:
    void changed();
    void touched();

  private:
    void look();

    QFileSystemWatcher m_watcher;
    QTimer m_pause;
    QString m_path;
    QDateTime m_modified;
    qint64 m_size = -1;
};

}  // namespace sonde::context
