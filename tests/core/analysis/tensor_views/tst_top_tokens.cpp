#include <QTest>

#include <cmath>
#include <limits>

#include "core/analysis/tensor_views/top_tokens.h"

namespace tst_top_tokens {

using namespace sonde;
using analysis::TopTokens;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

namespace {

const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();

}  // namespace

class TestTopTokens : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void sharesOfLogitsAreTheirSoftmax() {
        // e^x is 1, 2, 3 and 4 of 10, also of logits that are 900 larger.
        for (const double offset : {0.0, 900.0}) {
            const Tensor logits = Tensor::of<double>(
                Shape{1, 4}, {offset, offset + std::log(2.0), offset + std::log(3.0), offset + std::log(4.0)});
            const TopTokens tokens = analysis::topTokens(logits, 2).value();
            QVERIFY(!tokens.areProbabilities);
            QCOMPARE(tokens.vocabulary, std::int64_t(4));
            const auto& top = tokens.positions.at(0).top;
            QCOMPARE(top.size(), std::size_t(2));
            QCOMPARE(top[0].id, std::int64_t(3));
            QVERIFY(std::abs(top[0].share - 0.4) < 1e-12);
            QCOMPARE(top[1].id, std::int64_t(2));
            QVERIFY(std::abs(top[1].share - 0.3) < 1e-12);
            QCOMPARE(top[0].value, offset + std::log(4.0));
        }
    }

    void probabilitiesAreTakenAsTheyAre() {
        const TopTokens tokens =
            analysis::topTokens(Tensor::of<double>(Shape{2, 3}, {0.5, 0.25, 0.25, 0, 0, 1}), 3).value();
        QVERIFY(tokens.areProbabilities);
        QCOMPARE(tokens.positions[0].top[0].share, 0.5);
        // Of equal ones the smallest id is first.
        QCOMPARE(tokens.positions[0].top[1].id, std::int64_t(1));
        QCOMPARE(tokens.positions[0].top[2].id, std::int64_t(2));
        QCOMPARE(tokens.positions[1].top[0].id, std::int64_t(2));
        QCOMPARE(tokens.positions[1].top[0].share, 1.0);
    }

    void badElementsAreCountedAndHaveNoShare() {
        const TopTokens tokens =
            analysis::topTokens(Tensor::of<double>(Shape{2, 3}, {nan, 5, inf, nan, nan, nan}), 3).value();
        QCOMPARE(tokens.positions[0].bad, std::int64_t(2));
        QCOMPARE(tokens.positions[0].top.size(), std::size_t(2));
        QCOMPARE(tokens.positions[0].top[0].id, std::int64_t(2));
        QCOMPARE(tokens.positions[0].top[0].share, 0.0);
        QCOMPARE(tokens.positions[0].top[1].share, 1.0);
        QVERIFY(tokens.positions[1].top.empty());
    }

    void positionsAreLimited() {
        const Tensor many = Tensor::zeros(DType::Float32, Shape{600, 9}).value();
        const TopTokens tokens = analysis::topTokens(many, 50).value();
        QCOMPARE(tokens.positionCount, std::int64_t(600));
        QCOMPARE(std::int64_t(tokens.positions.size()), TopTokens::kMaxPositions);
        QCOMPARE(tokens.positions.back().top.size(), std::size_t(9));
        QVERIFY(std::abs(tokens.positions.back().top[8].share - 1.0 / 9) < 1e-12);
    }

    void whatHasNoPositionsIsRefused() {
        QVERIFY(!analysis::topTokens(Tensor::ofStrings(Shape{1, 1}, {"a"}), 3));
        QVERIFY(!analysis::topTokens(Tensor::scalar(1.0F), 3));
        QVERIFY(analysis::topTokens(Tensor::zeros(DType::Float32, Shape{0, 0}).value(), 3).value().positions.empty());
        std::stop_source source;
        source.request_stop();
        const auto stopped =
            analysis::topTokens(Tensor::zeros(DType::Float32, Shape{2, 2}).value(), 1, source.get_token());
        QCOMPARE(stopped.error().kind, base::ErrorKind::Cancelled);
    }

    void scoresHaveFewDimensionsAndManyTokens() {
        const auto may = [](const Shape& shape, DType type = DType::Float32) {
            return analysis::mayScoreTokens(Tensor::zeros(type, shape).value());
        };
        QVERIFY(may(Shape{1, 4, 96}));
        QVERIFY(may(Shape{1000}));
        QVERIFY(!may(Shape{}));
        QVERIFY(!may(Shape{1, 64, 56, 56}));
        QVERIFY(!may(Shape{1, 7}));
        QVERIFY(!may(Shape{0, 96}));
        QVERIFY(!may(Shape{4, 96}, DType::Int64));
    }
};

QTEST_APPLESS_MAIN(TestTopTokens)

}  // namespace tst_top_tokens

#include "tst_top_tokens.moc"
