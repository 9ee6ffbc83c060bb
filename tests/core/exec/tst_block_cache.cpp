// Memory between runs: used again by runs of like size, and given back when sizes change for good.

#include <QtTest>

#include "core/exec/block_cache.h"

namespace tst_block_cache {

using namespace sonde;
using exec::BlockCache;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

class TestBlockCache : public QObject {
    Q_OBJECT

  private slots:
    void theNextRunHasTheSameMemory() {
        BlockCache cache;
        cache.nextRun();
        const std::byte* first = cache.allocate(0, DType::Float32, Shape{100'000}).value().bytes();
        cache.nextRun();
        QCOMPARE(cache.allocate(0, DType::Float32, Shape{99'000}).value().bytes(), first);
    }

    void otherSizesDoNotPileUp() {
        BlockCache cache;
        std::size_t most = 0;
        for (std::int64_t size = 1; size <= 20; ++size) {
            cache.nextRun();
            { const Tensor x = cache.allocate(0, DType::Float32, Shape{size * 500'000}).value(); }
            most = std::max(most, cache.unusedBytes());
        }
        // The three largest, each rounded up by no more than an eighth: 3 x 20 x 500,000 x 4 bytes x 9/8.
        QVERIFY2(most <= std::size_t{135'000'000}, qPrintable(QString::number(most)));
    }

    void whatLiesIdleGoesWhenAsked() {
        BlockCache cache;
        {
            const Tensor small = cache.allocate(0, DType::Float32, Shape{100'000}).value();
            const Tensor large = cache.allocate(0, DType::Float32, Shape{1'000'000}).value();
        }
        const Tensor used = cache.allocate(0, DType::Float32, Shape{2'000'000}).value();
        QVERIFY(cache.unusedBytes() >= std::size_t{4'400'000});
        cache.trim(std::size_t{600'000});
        // The smaller one is left: 400,000 bytes and what they were rounded up by.
        QVERIFY(cache.unusedBytes() >= std::size_t{400'000} && cache.unusedBytes() <= std::size_t{450'000});
        cache.trim(0);
        QCOMPARE(cache.unusedBytes(), std::size_t{0});
        QVERIFY(used.bytes() != nullptr);
    }

    void whatIsKeptForLongComesBackAndGoes() {
        BlockCache cache;
        cache.nextRun();
        Tensor kept = cache.allocate(0, DType::Float32, Shape{100'000}).value();
        for (int i = 0; i < 5; ++i) cache.nextRun();
        kept = Tensor();
        QVERIFY(cache.unusedBytes() > 0);
        cache.nextRun();
        QCOMPARE(cache.unusedBytes(), std::size_t{0});
    }
};

QTEST_APPLESS_MAIN(TestBlockCache)

}  // namespace tst_block_cache

#include "tst_block_cache.moc"
