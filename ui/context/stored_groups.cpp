#include "ui/context/stored_groups.h"

#include <QSettings>

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "ui/context/stored.h"

namespace sonde::context {
namespace {

Group readGroup(QSettings& settings, const QString& key) {
    Group group;
    settings.beginGroup(key);
    for (const QString& name : settings.allKeys()) group[name] = settings.value(name);
    settings.endGroup();
    return group;
}

void writeGroup(QSettings& settings, const QString& key, const Group& changes) {
    settings.beginGroup(key);
    for (auto change = changes.begin(); change != changes.end(); ++change)
        change.value().isValid() ? settings.setValue(change.key(), change.value()) : settings.remove(change.key());
    settings.endGroup();
}

void merge(Group& group, const Group& changes) {
    for (auto change = changes.begin(); change != changes.end(); ++change) {
        if (change.value().isValid()) {
            group[change.key()] = change.value();
            continue;
        }
        const QString below = change.key() + QLatin1Char('/');
        group.removeIf([&](const std::pair<const QString&, QVariant&>& entry) {
            return entry.first == change.key() || entry.first.startsWith(below);
        });
    }
}

/// What groups are like in the file, as far as this process has seen them, and what is on its way there.
class Groups {
  public:
    void store(const QString& key, std::function<Group()> changes) {
        std::uint64_t number = 0;
        {
            const std::lock_guard lock(m_mutex);
            number = ++m_counter;
            m_groups[key].pending.emplace_back(number, changes);
        }
        storeLater([this, key, number, changes = std::move(changes)](QSettings& settings) {
            const Group made = changes();
            writeGroup(settings, key, made);
            Group written = readGroup(settings, key);
            // What it was made of may be large: this thread lets go of it, the last one to have it.
            std::function<Group()> done;
            const std::lock_guard lock(m_mutex);
            Entry& entry = m_groups[key];
            entry.file = std::move(written);
            ++entry.writes;
            for (auto& [of, made] : entry.pending)
                if (of == number) done = std::move(made);
            std::erase_if(entry.pending, [number](const auto& one) { return one.first == number; });
        });
    }

    void fetch(const QString& key) {
        const std::uint64_t before = copyOf(key).writes;
        QSettings settings;
        Group group = readGroup(settings, key);
        const std::lock_guard lock(m_mutex);
        Entry& entry = m_groups[key];
        if (entry.writes == before) entry.file = std::move(group);
    }

    Group get(const QString& key) {
        Entry entry = copyOf(key);
        if (!entry.file || isEverythingStored()) {
            QSettings settings;
            entry.file = readGroup(settings, key);
        }
        for (const auto& [number, changes] : entry.pending) merge(*entry.file, changes());
        return *entry.file;
    }

  private:
    struct Entry {
        std::optional<Group> file;  ///< when it was last read or written
        std::uint64_t writes = 0;
        std::vector<std::pair<std::uint64_t, std::function<Group()>>> pending;
    };

    Entry copyOf(const QString& key) {
        const std::lock_guard lock(m_mutex);
        const auto found = m_groups.find(key);
        return found == m_groups.end() ? Entry() : found->second;
    }

    std::mutex m_mutex;
    std::uint64_t m_counter = 0;
    std::map<QString, Entry> m_groups;
};

Groups& groups() {
    static auto* made = new Groups;  // kept to the end of the process: a worker may still be in it
    return *made;
}

}  // namespace

void storeGroup(const QString& key, std::function<Group()> changes) { groups().store(key, std::move(changes)); }

Group storedGroup(const QString& key) { return groups().get(key); }

void fetchGroup(const QString& key) { groups().fetch(key); }

}  // namespace sonde::context
