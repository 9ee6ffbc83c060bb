#include "ui/context/stored.h"

#include <QSettings>

#include <condition_variable>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "ui/context/background.h"

namespace sonde::context {
namespace {

class Writer {
  public:
    void add(std::function<void(QSettings&)> write) {
        const std::lock_guard lock(m_mutex);
        addLocked(std::move(write));
    }

    void set(const QString& key, const QVariant& value) {
        const std::lock_guard lock(m_mutex);
        m_notOnDisk[key] = value;
        addLocked([key, value](QSettings& settings) {
            value.isValid() ? settings.setValue(key, value) : settings.remove(key);
        });
    }

    /// Whether the key was set and is not in the file yet.
    bool get(const QString& key, QVariant& value) {
        const std::lock_guard lock(m_mutex);
        const auto found = m_notOnDisk.find(key);
        if (found == m_notOnDisk.end()) return false;
        value = found->second;
        return true;
    }

    bool isIdle() {
        const std::lock_guard lock(m_mutex);
        return !m_running;
    }

    void wait() {
        std::unique_lock lock(m_mutex);
        m_idle.wait(lock, [this] { return !m_running; });
    }

  private:
    void addLocked(std::function<void(QSettings&)> write) {
        m_writes.push_back(std::move(write));
        if (std::exchange(m_running, true)) return;
        runInBackground([this] { drain(); });
    }

    void drain() {
        std::unique_lock lock(m_mutex);
        while (!m_writes.empty()) {
            const auto writes = std::exchange(m_writes, {});
            lock.unlock();
            {
                QSettings settings;  // on the disk when it goes
                for (const auto& write : writes) write(settings);
            }
            lock.lock();
        }
        m_notOnDisk.clear();
        m_running = false;
        m_idle.notify_all();
    }

    std::mutex m_mutex;
    std::condition_variable m_idle;
    std::vector<std::function<void(QSettings&)>> m_writes;
    std::map<QString, QVariant> m_notOnDisk;
    bool m_running = false;
};

Writer& writer() {
    static auto* made = new Writer;  // kept to the end of the process: a worker may still be in it
    return *made;
}

}  // namespace

void store(const QString& key, const QVariant& value) { writer().set(key, value); }

QVariant stored(const QString& key, const QVariant& fallback) {
    QVariant value;
    if (!writer().get(key, value)) return QSettings().value(key, fallback);
    return value.isValid() ? value : fallback;
}

void storeLater(std::function<void(QSettings&)> write) { writer().add(std::move(write)); }

bool isEverythingStored() { return writer().isIdle(); }

void waitUntilStored() { writer().wait(); }

}  // namespace sonde::context
