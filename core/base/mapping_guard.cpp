#include "core/base/mapping_guard.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <mutex>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace sonde::base {

/// One mapping. Writers hold the table's mutex; the handler reads without it, and a slot whose version is odd or
/// changed in the meantime is being written, thus not the one whose memory the interrupted thread was reading.
struct detail::MappingSlot {
    std::atomic<std::uint32_t> version{0};
    std::atomic<std::uintptr_t> begin{0};
    std::atomic<std::uintptr_t> end{0};  ///< 0: the slot is free
    std::atomic<const MappedFile*> file{nullptr};
    std::atomic<bool> failed{false};
};

namespace {

using detail::MappingSlot;

/// Slots are never moved nor freed: the handler may be looking at them at any time.
struct Chunk {
    std::array<MappingSlot, 128> slots;
    std::atomic<Chunk*> next{nullptr};
};

Chunk firstChunk;
struct sigaction previousAction {};

std::mutex& writing() {
    static auto* const mutex = new std::mutex;  // mappings of static objects go after everything else
    return *mutex;
}

struct Range {
    std::uintptr_t begin = 0, end = 0;
    const MappedFile* file = nullptr;
};

/// What a slot says, empty while it changes. The operations are sequentially consistent: whoever sees a new end or
/// begin also sees the version that was set before it.
Range rangeOf(const MappingSlot& slot) {
    const std::uint32_t version = slot.version.load();
    const Range range{slot.begin.load(), slot.end.load(), slot.file.load()};
    const bool isStable = version % 2 == 0 && slot.version.load() == version;
    return isStable ? range : Range{};
}

void write(MappingSlot& slot, const Range& range) {
    slot.version.fetch_add(1);
    slot.begin.store(range.begin);
    slot.end.store(range.end);
    slot.file.store(range.file);
    slot.version.fetch_add(1);
}

/// The slot of the mapping that holds the address, and what it said.
MappingSlot* slotAt(std::uintptr_t address, Range& found) {
    for (Chunk* chunk = &firstChunk; chunk; chunk = chunk->next.load()) {
        for (MappingSlot& slot : chunk->slots) {
            found = rangeOf(slot);
            if (address >= found.begin && address < found.end) return &slot;
        }
    }
    return nullptr;
}

/// Zeros in place of the whole mapping: one call, and no further signal. Page by page, a file of many gigabytes that
/// was cut off would need more mappings than a process may have.
bool mapZeros(const Range& range) {
    // The system call itself: mmap() may be somebody's wrapper (sanitizers, allocators), and those are not made for
    // handlers.
    return syscall(SYS_mmap, range.begin, range.end - range.begin, PROT_READ,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) != -1;
}

void callPrevious(int signal, siginfo_t* info, void* context) {
    if (previousAction.sa_flags & SA_SIGINFO) return previousAction.sa_sigaction(signal, info, context);
    if (previousAction.sa_handler != SIG_DFL && previousAction.sa_handler != SIG_IGN)
        return previousAction.sa_handler(signal);
    if (previousAction.sa_handler == SIG_IGN && info->si_code <= 0) return;
    // The process ends as if there had been no handler: the access is tried again, and a signal that was sent comes
    // again.
    struct sigaction standard {};
    standard.sa_handler = SIG_DFL;
    sigaction(signal, &standard, nullptr);
    if (info->si_code <= 0) raise(signal);
}

void onBusError(int signal, siginfo_t* info, void* context) {
    const int error = errno;
    Range range;
    // Signals that a process sends (si_code <= 0) have no address.
    MappingSlot* const slot =
        info->si_code > 0 ? slotAt(reinterpret_cast<std::uintptr_t>(info->si_addr), range) : nullptr;
    // The flag comes first: nobody may see zeros without it.
    if (slot) slot->failed.store(true);
    if (!slot || !mapZeros(range)) callPrevious(signal, info, context);
    errno = error;
}

void installHandler() {
    struct sigaction action {};
    action.sa_sigaction = onBusError;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, &previousAction);
}

MappingSlot& freeSlot() {
    Chunk* last = &firstChunk;
    for (Chunk* chunk = &firstChunk; chunk; chunk = chunk->next.load()) {
        for (MappingSlot& slot : chunk->slots) {
            if (slot.end.load() == 0) return slot;
        }
        last = chunk;
    }
    auto* const chunk = new Chunk;  // stays: see Chunk
    last->next.store(chunk);
    return chunk->slots.front();
}

}  // namespace

MappingGuard::MappingGuard(const std::byte* begin, std::size_t sizeBytes, const MappedFile* file) {
    const std::scoped_lock lock(writing());
    static const bool isInstalled = (installHandler(), true);
    (void)isInstalled;
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const auto address = reinterpret_cast<std::uintptr_t>(begin);
    m_slot = &freeSlot();
    m_slot->failed.store(false);
    write(*m_slot, {address, address + (sizeBytes + page - 1) / page * page, file});
}

MappingGuard::~MappingGuard() {
    const std::scoped_lock lock(writing());
    write(*m_slot, {});
}

bool MappingGuard::readFailed() const { return m_slot->failed.load(); }

const MappedFile* MappingGuard::fileAt(const void* address) {
    Range range;
    return slotAt(reinterpret_cast<std::uintptr_t>(address), range) ? range.file : nullptr;
}

}  // namespace sonde::base
