#pragma once

#include <QDateTime>
#include <QFileSystemWatcher>
#include <QObject>
#include <QTimer>

namespace sonde::context {

/// Tells when a file has another content than before: also when it was replaced by renaming another one, as exporters do.
/// A change is told once writing has paused, and never for a file that is gone.
class FileWatch : public QObject {
    Q_OBJECT
  public:
    explicit FileWatch(QObject* parent = nullptr);

    /// Replaces what was watched; anything that is no file of this machine ("zoo:resnet18", "") is not.
    void watch(const QString& path);

  Q_SIGNALS:
    void changed();

  private:
    void look();

    QFileSystemWatcher m_watcher;
    QTimer m_pause;
    QString m_path;
    QDateTime m_modified;
    qint64 m_size = -1;
};

}  // namespace sonde::context
