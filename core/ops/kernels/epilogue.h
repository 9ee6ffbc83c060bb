#pragma once

#include <atomic>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/ops/kernels/finite.h"
#include "core/ops/kernels/float_kernels.h"
#include "core/ops/kernels/moments.h"
#include "core/ops/registry/registry.h"

namespace sonde::ops::kernels {

/// As many elements as are worth a call of Epilogue::apply, and still in the nearest cache when the last link reads
/// them: kernels hand over shorter rows and planes by the handful.
inline constexpr std::int64_t kEpiloguePiece = 4096;

/// Neighbours of an epilogue done in one loop over the elements, where nobody wants what is between them: x · factor +
/// shift by channel, a tensor of the same shape added, and bounds; each of them or not.
struct EpiloguePass {
    std::span<const float> factor, shift;  ///< by channel; empty: none
    std::int64_t plane = 0;                ///< elements of a channel
    const float* other = nullptr;          ///< added
    bool clips = false;
    float low = -std::numeric_limits<float>::infinity(), high = std::numeric_limits<float>::infinity();

    /// See EpilogueOp::apply. Whether all is finite before the bounds.
    bool apply(const float* from, float* to, std::int64_t offset, std::int64_t count) const;
};

/// An element-wise operator that works on pieces of the tensor before it while they are in the cache, instead of in a
/// pass of its own over memory. It runs the loop of the operator's kernel, so that every bit is the same.
class EpilogueOp {
  public:
    virtual ~EpilogueOp() = default;
    /// `count` elements that follow each other in row-major order from `offset` on; from and to may be the same.
    virtual void apply(const float* from, float* to, std::int64_t offset, std::int64_t count) const = 0;
    /// Whatever is finite before it is finite after it.
    virtual bool keepsFinite() const { return false; }
    /// Whatever is NaN or infinite before it is so after it.
    virtual bool keepsBad() const { return false; }
    /// Takes a place in the pass behind what is there: false if it is none of the operators that a pass is made of, or
    /// of those that come earlier.
    virtual bool joinPass(EpiloguePass&) const { return false; }
};

/// One call of an operator that could be fused. inputs[at] is the tensor before it (of float32 and the given shape).
struct EpilogueCall {
    const OpDef& op;
    std::span<const Value> inputs;
    std::size_t at;
    const Attributes& attributes;
    const PreparedState* prepared;
    const Shape& shape;
    std::size_t sameShapeOnly;  ///< an input that is being made piece by piece too, of the same shape; else npos
};
inline constexpr std::size_t kNoInput = static_cast<std::size_t>(-1);

/// Null if these inputs do not allow it.
using MakeEpilogueOp = std::function<std::unique_ptr<EpilogueOp>(const EpilogueCall&)>;

/// Operators say beside their definition whether they can be part of an epilogue and whether their kernels run one (a
/// kernel of the latter kind takes Epilogue::of its result). For all versions of a name.
void addEpilogueOp(std::string_view domain, std::string_view name, MakeEpilogueOp make);
void addEpilogueKernel(std::string_view domain, std::string_view name);
/// Null if the operator cannot be part of an epilogue.
const MakeEpilogueOp* epilogueOpOf(const OpDef& op);
bool runsEpilogue(const OpDef& op);

/// Makers for the families of element-wise operators.
std::unique_ptr<EpilogueOp> unaryEpilogue(Unary function, double a, double b);
std::unique_ptr<EpilogueOp> binaryEpilogue(const EpilogueCall& call, Binary operation);
std::unique_ptr<EpilogueOp> affineEpilogue(const EpilogueCall& call, std::span<const float> factor,
                                           std::span<const float> shift);

/// The fused epilogue of one call of a kernel: what is done with its result. The executor fills the links and makes
/// them current while the kernel runs; the kernel takes them for its result and then calls apply() on every element
/// exactly once, from any thread.
class Epilogue {
  public:
    struct Link {
        const OpDef* op = nullptr;
        std::vector<Value> inputs;
        std::size_t at = 0;  ///< input that is the tensor before
        std::vector<std::size_t> ownInputs =
            {};  ///< by input: the link (+1; 0: the kernel) that makes it; kNoInput otherwise
        const Attributes* attributes = nullptr;
        std::shared_ptr<const PreparedState> prepared = nullptr;
        bool overwrites = false;  ///< nobody else wants the tensor before: the result takes its place
        bool onlyKept = false;    ///< the tensor before is kept for later, but nobody else reads it now
        bool isKept = false;      ///< the result is kept for later
    };

    /// What is done about NaN and infinity in the pieces while they are in the cache, also without links.
    enum class Census : std::uint8_t {
        None,
        Detect,  ///< look at as few values of a chain as tell whether any holds some
        Count    ///< count in all of them
    };
    /// `measures`: takes the moments of all values in the pieces while they are in the cache.
    Epilogue(std::vector<Link> links, OutputAllocator& allocator, Census census = Census::None, bool measures = false);

    /// Those of the kernel that runs now, bound to its result y, which must be contiguous float32; null if there are
    /// none.
    static const Epilogue* of(const Tensor& y);
    /// Nothing may be fused from here on in this call of a kernel.
    static void dismiss();

    void apply(std::int64_t offset, std::int64_t count) const;
    /// What TileEnd::bad points to.
    struct Bad {
        alignas(64) float lanes[16] = {};
    };
    /// Short stretches that a kernel finishes together: what they measure is put together before the epilogue gets it.
    class Piece {
      public:
        /// Null: none.
        explicit Piece(const Epilogue* epilogue) : m_epilogue(epilogue) {}
        void apply(std::int64_t offset, std::int64_t count);
        void end();

      private:
        const Epilogue* m_epilogue;
        std::int64_t m_offset = 0;               ///< of the first stretch
        std::vector<RunningMoments> m_measured;  ///< of y, then of each link's result; empty: nothing yet
    };
    /// All of it in the registers of a kernel that computes `rows` rows of `length` elements, which follow each other
    /// in the tensor from `offset` on. Then the kernel calls looked() for them and not apply(). Nothing if apply() has
    /// to do it.
    std::optional<TileEnd> inRegisters(std::int64_t offset, std::int64_t rows, std::int64_t length) const;
    /// Takes what TileEnd::bad has in the end.
    void looked(const Bad& bad) const;
    /// The kernel begins again in another way: all elements come once more.
    void restart() const;
    /// Some value holds bad elements, but they were not counted.
    bool detected() const { return m_census == Census::Detect && m_detected.load(std::memory_order_relaxed); }
    /// Bad elements of y, and of the result of a bound link, whether it was overwritten or not. Nothing if the kernel
    /// did not take the epilogue, or if they have not counted what is there.
    std::optional<BadCount> badInMain() const { return badIn(0); }
    std::optional<BadCount> badInResult(std::size_t link) const { return badIn(link + 1); }
    /// The moments of y, and of the result of a bound link, in the same way. They are put together from pieces, and how
    /// those are cut may depend on the number of threads.
    std::optional<ElementMoments> momentsOfMain() const { return momentsIn(0); }
    std::optional<ElementMoments> momentsOfResult(std::size_t link) const { return momentsIn(link + 1); }
    /// The first so many links were bound, and are computed when the kernel is done.
    std::size_t bound() const { return m_bound.size(); }
    /// Of a bound link.
    const Tensor& result(std::size_t link) const { return m_results[link + 1]; }
    /// What to keep for later instead: it may be made from the tensor before it when it is first read, by the same
    /// loop. The memory of all those tensors is what watching every node costs.
    const Tensor& kept(std::size_t link) const { return m_kept[link + 1]; }

    /// Makes epilogue current for the calling thread.
    class Scope {
      public:
        explicit Scope(Epilogue* epilogue);
        ~Scope();
        Scope(const Scope&) = delete;
        Scope& operator=(const Scope&) = delete;
    };

  private:
    struct AtomicCount {
        std::atomic<std::int64_t> nan{0}, inf{0};
    };
    bool look(std::size_t value, const float* data, std::int64_t count) const;
    void chooseLooks();
    void measure(std::int64_t offset, std::int64_t count, std::vector<RunningMoments>& measured) const;
    std::optional<BadCount> badIn(std::size_t value) const;
    std::optional<ElementMoments> momentsIn(std::size_t value) const;
    bool bind(const Tensor& y);
    bool bindLink(std::size_t index, const Shape& shape);
    void keep(std::size_t link);
    void joinPasses();
    void joinAll();

    std::vector<Link> m_links;
    OutputAllocator& m_allocator;
    struct Bound {
        std::shared_ptr<const EpilogueOp> op;
        const float* from;
        float* to;
        std::size_t deferred = 0;  ///< so many in a row up to this one are kept without being made
        bool looks = false;        ///< Census::Detect looks at its result
        /// With `joined` others behind it in one pass, which looks at what comes before the bounds if `passLooks`.
        std::shared_ptr<const EpiloguePass> pass = nullptr;
        std::size_t joined = 0;
        bool passLooks = false;
    };
    std::vector<Bound> m_bound;
    std::optional<EpiloguePass> m_whole;  ///< that all bound links are
    std::vector<Tensor> m_results;        ///< y, then one for each bound link
    std::vector<Tensor> m_kept;           ///< the same
    Census m_census;
    bool m_looksAtMain = false;  ///< Census::Detect looks at y
    mutable std::atomic<bool> m_detected{false};
    mutable std::vector<AtomicCount> m_counts;  ///< of y, then of each link's result; empty unless Census::Count
    bool m_measures;
    mutable std::mutex m_mutex;
    mutable std::vector<std::int64_t> m_pieces;      ///< offsets of those that were measured, in any order
    mutable std::vector<ElementMoments> m_measured;  ///< of each piece: those of y, then of each link's result
};

}  // namespace sonde::ops::kernels
