#include "core/document/native_library.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <exception>
#include <fcntl.h>
#include <map>
#include <mutex>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "core/document/elf_size.h"
#include "core/document/sha256.h"

namespace sonde::document {

namespace {

namespace fs = std::filesystem;

class Descriptor {
  public:
    explicit Descriptor(int number) : m_number(number) {}
    ~Descriptor() {
        if (m_number >= 0) ::close(m_number);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;

    int number() const { return m_number; }
    int release() { return std::exchange(m_number, -1); }

  private:
    int m_number;
};

base::Error systemError(const std::string& what, const fs::path& path) {
    return base::unreadable(what + ": " + std::strerror(errno), path.string());
}

/// Everything that can be read from one descriptor goes into the other.
bool copyAll(int from, int to) {
    std::vector<std::byte> buffer(std::size_t{1} << 20);
    while (true) {
        const ssize_t count = ::read(from, buffer.data(), buffer.size());
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return count == 0;
        for (ssize_t done = 0; done < count;) {
            const ssize_t written = ::write(to, buffer.data() + done, static_cast<std::size_t>(count - done));
            if (written < 0 && errno != EINTR) return false;
            if (written > 0) done += written;
        }
    }
}

/// A memory file that can be run: kernels with vm.memfd_noexec want to be told, older ones do not know the word.
int memoryFile() {
    constexpr unsigned kExecutable = 0x0010U;  // MFD_EXEC of Linux 6.3
    const int made = ::memfd_create("sonde-model", MFD_CLOEXEC | MFD_ALLOW_SEALING | kExecutable);
    return made >= 0 || errno != EINVAL ? made : ::memfd_create("sonde-model", MFD_CLOEXEC | MFD_ALLOW_SEALING);
}

/// An exception of a library's own initialisation cannot pass the dynamic loader: the program ends, and this says why.
/// Status 4, as of other exceptions of a user's code. One at a time.
class NamedTermination {
  public:
    explicit NamedTermination(const fs::path& path) {
        text() = "sonde: error: an exception left the initialisation of the library (" + path.string() + ")\n";
        m_before = std::set_terminate([] {
            [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text().data(), text().size());
            std::_Exit(4);
        });
    }
    ~NamedTermination() { std::set_terminate(m_before); }
    NamedTermination(const NamedTermination&) = delete;
    NamedTermination& operator=(const NamedTermination&) = delete;

  private:
    static std::string& text() {
        static auto* const kept = new std::string;
        return *kept;
    }

    std::terminate_handler m_before;
};

/// Every library that was loaded, by the hash of its content.
class Libraries {
  public:
    base::Result<void*> load(const std::string& hash, int descriptor, const fs::path& path) {
        const std::scoped_lock lock(m_mutex);
        if (const auto known = m_loaded.find(hash); known != m_loaded.end()) return known->second;
        // The loader knows libraries by their path: the number must not come again for another content, so it stays
        // open.
        const int kept = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
        if (kept < 0) return systemError("the library cannot be loaded", path);
        const std::string name = "/proc/self/fd/" + std::to_string(kept);
        void* const handle = open(name, path);
        if (!handle) {
            const char* const said = dlerror();
            std::string why(said ? said : "no reason given");
            if (why.starts_with(name + ": ")) why.erase(0, name.size() + 2);  // not the user's name of it
            const auto error = base::unreadable("the library cannot be loaded: " + why, path.string(), kRebuildHint);
            ::close(kept);
            return error;
        }
        m_loaded.emplace(hash, handle);
        return handle;
    }

  private:
    static void* open(const std::string& name, const fs::path& path) {
        const NamedTermination named(path);
        return dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    }

    std::mutex m_mutex;
    std::map<std::string, void*> m_loaded;
};

Libraries& libraries() {
    static auto* const all = new Libraries;  // outlives whatever a library destroys at exit
    return *all;
}

}  // namespace

base::Result<std::shared_ptr<const NativeLibrary>> NativeLibrary::read(const fs::path& path) {
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (file.number() < 0) return systemError("the file cannot be opened", path);
    struct stat status {};
    if (::fstat(file.number(), &status) != 0) return systemError("the file cannot be read", path);
    if (!S_ISREG(status.st_mode)) return base::unreadable("this is not a regular file", path.string());
    Descriptor copy(memoryFile());
    if (copy.number() < 0 || !copyAll(file.number(), copy.number()))
        return systemError("the library cannot be copied into memory", path);
    if (::fcntl(copy.number(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0 ||
        ::fstat(copy.number(), &status) != 0) {
        return systemError("the copy of the library cannot be sealed", path);
    }
    const std::shared_ptr<NativeLibrary> library(new NativeLibrary);
    library->m_path = path;
    const auto sizeBytes = static_cast<std::size_t>(status.st_size);
    if (sizeBytes > 0) {
        void* const data = ::mmap(nullptr, sizeBytes, PROT_READ, MAP_SHARED, copy.number(), 0);
        if (data == MAP_FAILED) return systemError("the library's copy cannot be read", path);
        library->m_data = static_cast<const std::byte*>(data);
        library->m_sizeBytes = sizeBytes;
    }
    library->m_descriptor = copy.release();
    library->m_hash = sha256(library->bytes());
    return std::shared_ptr<const NativeLibrary>(library);
}

NativeLibrary::~NativeLibrary() {
    if (m_data) ::munmap(const_cast<std::byte*>(m_data), m_sizeBytes);
    if (m_descriptor >= 0) ::close(m_descriptor);
}

base::Result<void*> NativeLibrary::load() const {
    if (const std::uint64_t wanted = elfSizeBytes(bytes()); wanted > m_sizeBytes) {
        return base::unreadable("the library is cut off: it has " + std::to_string(m_sizeBytes) + " bytes, of " +
                                    std::to_string(wanted) + " or more by its own tables",
                                m_path.string(), kRebuildHint);
    }
    return libraries().load(m_hash, m_descriptor, m_path);
}

}  // namespace sonde::document
