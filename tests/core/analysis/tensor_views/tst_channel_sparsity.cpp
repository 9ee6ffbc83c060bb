#include <QTest>

#include <cmath>
#include <complex>
#include <limits>

#include "core/analysis/tensor_views/channel_sparsity.h"

namespace tst_channel_sparsity {

using namespace sonde;
using analysis::ChannelSparsity;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

namespace {

std::vector<std::int64_t> zerosOf(const ChannelSparsity& found) {
    std::vector<std::int64_t> zeros;
    for (const auto& channel : found.channels) zeros.push_back(channel.zeros);
    return zeros;
}

/// [2, 3, 2]: channel 1 is dead, -0 is zero.
Tensor withDeadChannel() { return Tensor::of<float>(Shape{2, 3, 2}, {1, 0, 0, 0, 5, -7, 0, 2, -0.0F, 0, 3, 4}); }

}  // namespace

class TestChannelSparsity : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void zerosAreCountedByChannel() {
        const ChannelSparsity found = analysis::channelSparsity(withDeadChannel(), 1).value();
        QCOMPARE(found.perChannel, std::int64_t(4));
        QCOMPARE(zerosOf(found), (std::vector<std::int64_t>{2, 4, 0}));
        QCOMPARE(found.zeroShare(0), 0.5);
        QVERIFY(found.isDead(1));
        QVERIFY(!found.isDead(0));
        QCOMPARE(found.deadCount(), std::int64_t(1));
        QCOMPARE(found.zeroShare(), 0.5);
        QCOMPARE(found.channels[2].largest, 7.0);
    }

    void anyAxisAndAnyStridesAreCounted() {
        QCOMPARE(zerosOf(analysis::channelSparsity(withDeadChannel(), 0).value()), (std::vector<std::int64_t>{3, 3}));
        QCOMPARE(zerosOf(analysis::channelSparsity(withDeadChannel(), 2).value()), (std::vector<std::int64_t>{3, 3}));
        QCOMPARE(zerosOf(analysis::channelSparsity(withDeadChannel().transposed(1, 2), 2).value()),
                 (std::vector<std::int64_t>{2, 4, 0}));
    }

    void everyDtypeHasZeros() {
        for (const DType type : {DType::Float16, DType::BFloat16, DType::Float64, DType::Int8, DType::Int64}) {
            const Tensor cast = withDeadChannel().cast(type).value();
            QCOMPARE(zerosOf(analysis::channelSparsity(cast, 1).value()), (std::vector<std::int64_t>{2, 4, 0}));
        }
        QCOMPARE(zerosOf(analysis::channelSparsity(withDeadChannel().cast(DType::Bool).value(), 1).value()),
                 (std::vector<std::int64_t>{2, 4, 0}));
        // A complex number is zero in both parts.
        using C = std::complex<float>;
        const Tensor complex = Tensor::of<C>(Shape{1, 2}, {C(0, 3), C(0, 0)});
        const ChannelSparsity found = analysis::channelSparsity(complex, 1).value();
        QCOMPARE(zerosOf(found), (std::vector<std::int64_t>{0, 1}));
        QCOMPARE(found.channels[0].largest, 3.0);
    }

    void badElementsAreNotZero() {
        const float nan = std::nanf(""), inf = std::numeric_limits<float>::infinity();
        const ChannelSparsity found = analysis::channelSparsity(Tensor::of<float>(Shape{2, 1}, {nan, -inf}), 1).value();
        QCOMPARE(found.channels[0].bad, std::int64_t(2));
        QCOMPARE(found.channels[0].largest, 0.0);
        QCOMPARE(found.deadCount(), std::int64_t(0));
    }

    void emptyOnesHaveNothingDead() {
        const ChannelSparsity found =
            analysis::channelSparsity(Tensor::zeros(DType::Float32, Shape{0, 3}).value(), 1).value();
        QCOMPARE(found.channels.size(), std::size_t(3));
        QCOMPARE(found.deadCount(), std::int64_t(0));
        QCOMPARE(found.zeroShare(), 0.0);
    }

    void whatHasNoChannelsIsRefused() {
        QVERIFY(!analysis::channelSparsity(Tensor::ofStrings(Shape{1, 1}, {"a"}), 1));
        QVERIFY(!analysis::channelSparsity(Tensor::scalar(1.0F), 0));
        QVERIFY(!analysis::channelSparsity(Tensor(), 0));
        const auto many = analysis::channelSparsity(
            Tensor::zeros(DType::Bool, Shape{1, ChannelSparsity::kMaxChannels + 1}).value(), 1);
        QVERIFY(!many);
        QCOMPARE(many.error().what, std::string("axis 1 has 1,048,577 positions"));
        std::stop_source source;
        source.request_stop();
        QCOMPARE(analysis::channelSparsity(withDeadChannel(), 1, source.get_token()).error().kind,
                 base::ErrorKind::Cancelled);
    }
};

QTEST_APPLESS_MAIN(TestChannelSparsity)

}  // namespace tst_channel_sparsity

#include "tst_channel_sparsity.moc"
