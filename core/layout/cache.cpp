#include "core/layout/cache.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <list>
#include <mutex>
#include <optional>
#include <system_error>
#include <unistd.h>
#include <unordered_map>

namespace sonde::layout {

namespace fs = std::filesystem;

namespace {

constexpr const char* kSuffix = ".layout";
constexpr std::uintmax_t kMaxFile = std::uintmax_t{64} << 20;

fs::path defaultFolder() {
    const char* cache = std::getenv("XDG_CACHE_HOME");
    if (cache && *cache == '/') return fs::path(cache) / "sonde" / "layout";
    const char* home = std::getenv("HOME");
    if (home && *home == '/') return fs::path(home) / ".cache" / "sonde" / "layout";
    return {};
}

std::size_t bytesOf(const BoxLayout& layout) {
    std::size_t bytes = sizeof(BoxLayout) + layout.boxes.size() * sizeof(Rect) + layout.note.size();
    for (const Path& edge : layout.edges) bytes += sizeof(Path) + edge.points.size() * sizeof(Point);
    return bytes;
}

}  // namespace

/// The folder on disk: a file per layout, "checksum, layout" in bytes, named by its key.
class DiskStore {
  public:
    DiskStore(fs::path folder, std::uint64_t limit) : m_folder(std::move(folder)), m_limit(limit) {}

    const fs::path& folder() const { return m_folder; }

    std::optional<BoxLayout> read(const LayoutKey& key) const {
        std::error_code failed;
        const fs::path path = pathOf(key);
        const auto size = fs::file_size(path, failed);
        if (failed || size <= 16 || size > kMaxFile) return std::nullopt;
        std::vector<std::byte> bytes(size);
        std::ifstream file(path, std::ios::binary);
        if (!file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size))) return std::nullopt;
        const auto body = std::span(bytes).subspan(16);
        const LayoutKey sum = keyOfBytes(body);
        if (std::memcmp(bytes.data(), &sum.high, 8) != 0 || std::memcmp(bytes.data() + 8, &sum.low, 8) != 0) {
            return std::nullopt;
        }
        auto layout = decodeLayout(body);
        if (!layout) return std::nullopt;
        fs::last_write_time(path, fs::file_time_type::clock::now(), failed);  // used last, removed last
        return std::move(layout).value();
    }

    /// Written beside and renamed, so that another Sonde never reads half a file.
    void write(const LayoutKey& key, const BoxLayout& layout) {
        const std::vector<std::byte> body = encode(layout);
        if (body.size() > std::min<std::uintmax_t>(kMaxFile - 16, m_limit / 4)) return;
        std::error_code failed;
        const fs::path path = pathOf(key);
        fs::create_directories(path.parent_path(), failed);
        fs::path beside = path;
        beside += "." + std::to_string(::getpid()) + "." + std::to_string(m_serial++) + ".new";
        {
            const LayoutKey sum = keyOfBytes(body);
            std::ofstream file(beside, std::ios::binary);
            file.write(reinterpret_cast<const char*>(&sum.high), 8);
            file.write(reinterpret_cast<const char*>(&sum.low), 8);
            file.write(reinterpret_cast<const char*>(body.data()), static_cast<std::streamsize>(body.size()));
            file.close();
            if (file.fail()) {
                fs::remove(beside, failed);
                return;
            }
        }
        fs::rename(beside, path, failed);
        if (failed) {
            fs::remove(beside, failed);
            return;
        }
        // The folder is measured once at the start and then again each time it may have grown by an eighth.
        const std::uint64_t written = m_written += body.size() + 16;
        if (!m_measured.exchange(true) || written > m_limit / 8) prune();
    }

  private:
    fs::path pathOf(const LayoutKey& key) const {
        const std::string name = key.hex();
        return m_folder / name.substr(0, 2) / (name.substr(2) + kSuffix);
    }

    void prune() {
        m_written = 0;
        struct Entry {
            fs::path path;
            std::uintmax_t size;
            fs::file_time_type used;
        };
        std::vector<Entry> entries;
        std::uintmax_t total = 0;
        std::error_code failed;
        const auto longAgo = fs::file_time_type::clock::now() - std::chrono::hours(1);
        for (fs::recursive_directory_iterator it(m_folder, failed), end; !failed && it != end; it.increment(failed)) {
            std::error_code ignored;
            if (!it->is_regular_file(ignored)) continue;
            const Entry entry{it->path(), it->file_size(ignored), it->last_write_time(ignored)};
            const std::string suffix = entry.path.extension().string();
            if (suffix == ".new" && entry.used < longAgo) fs::remove(entry.path, ignored);
            if (suffix != kSuffix) continue;
            total += entry.size;
            entries.push_back(entry);
        }
        if (total <= m_limit) return;
        std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.used < b.used; });
        for (const Entry& entry : entries) {
            if (total <= m_limit / 4 * 3) return;
            if (fs::remove(entry.path, failed)) total -= entry.size;
        }
    }

    fs::path m_folder;
    std::uint64_t m_limit;
    std::atomic<std::uint64_t> m_written{0};
    std::atomic<std::uint64_t> m_serial{0};
    std::atomic<bool> m_measured{false};
};

class LayoutCache::Impl {
  public:
    explicit Impl(const Options& options) : memoryBytes(options.memoryBytes) {
        if (!options.useDisk) return;
        const fs::path folder = options.folder.empty() ? defaultFolder() : options.folder;
        if (!folder.empty()) disk = std::make_unique<DiskStore>(folder, options.diskBytes);
    }

    struct Entry {
        LayoutKey key;
        std::shared_ptr<const BoxLayout> layout;
        std::size_t bytes;
    };

    /// The most recently used are in front.
    std::shared_ptr<const BoxLayout> find(const LayoutKey& key) {
        const std::lock_guard lock(mutex);
        const auto it = byKey.find(key);
        if (it == byKey.end()) return nullptr;
        entries.splice(entries.begin(), entries, it->second);
        return it->second->layout;
    }

    void insert(const LayoutKey& key, std::shared_ptr<const BoxLayout> layout) {
        const std::lock_guard lock(mutex);
        if (const auto it = byKey.find(key); it != byKey.end()) {
            used -= it->second->bytes;
            entries.erase(it->second);
            byKey.erase(it);
        }
        const std::size_t bytes = bytesOf(*layout);
        entries.push_front({key, std::move(layout), bytes});
        byKey[key] = entries.begin();
        used += bytes;
        while (used > memoryBytes && entries.size() > 1) {
            used -= entries.back().bytes;
            byKey.erase(entries.back().key);
            entries.pop_back();
        }
    }

    mutable std::mutex mutex;
    std::list<Entry> entries;
    std::unordered_map<LayoutKey, std::list<Entry>::iterator> byKey;
    std::size_t used = 0;
    std::size_t memoryBytes;
    std::unique_ptr<DiskStore> disk;
    Counts counts;
};

LayoutCache::LayoutCache() : LayoutCache(Options{}) {}
LayoutCache::LayoutCache(Options options) : m_impl(std::make_unique<Impl>(options)) {}
LayoutCache::~LayoutCache() = default;

std::shared_ptr<const BoxLayout> LayoutCache::find(const LayoutKey& key, const BoxGraph& graph) {
    auto count = [this](std::size_t Counts::*which) {
        const std::lock_guard lock(m_impl->mutex);
        ++(m_impl->counts.*which);
    };
    if (auto layout = m_impl->find(key); layout && answers(*layout, graph)) {
        count(&Counts::memoryHits);
        return layout;
    }
    if (m_impl->disk) {
        if (auto layout = m_impl->disk->read(key); layout && answers(*layout, graph)) {
            auto shared = std::make_shared<const BoxLayout>(std::move(*layout));
            m_impl->insert(key, shared);
            count(&Counts::diskHits);
            return shared;
        }
    }
    count(&Counts::misses);
    return nullptr;
}

std::shared_ptr<const BoxLayout> LayoutCache::insert(const LayoutKey& key, BoxLayout layout) {
    auto shared = std::make_shared<const BoxLayout>(std::move(layout));
    m_impl->insert(key, shared);
    // The layered engine is quick, and a layout that it made because time ran out may come out better the next time.
    if (m_impl->disk && shared->engine == Engine::Graphviz) m_impl->disk->write(key, *shared);
    return shared;
}

LayoutCache::Counts LayoutCache::counts() const {
    const std::lock_guard lock(m_impl->mutex);
    return m_impl->counts;
}

const fs::path& LayoutCache::folder() const {
    static const fs::path kNone;
    return m_impl->disk ? m_impl->disk->folder() : kNone;
}

void LayoutCache::clearMemory() {
    const std::lock_guard lock(m_impl->mutex);
    m_impl->entries.clear();
    m_impl->byKey.clear();
    m_impl->used = 0;
}

}  // namespace sonde::layout
