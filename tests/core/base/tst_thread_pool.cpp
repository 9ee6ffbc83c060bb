#include <QtTest>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "core/base/thread_pool.h"

namespace tst_thread_pool {

using sonde::base::ThreadPool;

class TestThreadPool : public QObject {
    Q_OBJECT

  private slots:
    void everyItemIsVisitedOnce_data() {
        QTest::addColumn<int>("threads");
        QTest::addColumn<int>("count");
        QTest::addColumn<int>("grain");
        for (int threads : {1, 2, 4}) {
            for (int count : {0, 1, 7, 1000}) {
                for (int grain : {1, 3, 5000})
                    QTest::addRow("%d threads, %d by %d", threads, count, grain) << threads << count << grain;
            }
        }
    }
    void everyItemIsVisitedOnce() {
        QFETCH(int, threads);
        QFETCH(int, count);
        QFETCH(int, grain);
        ThreadPool pool(static_cast<std::size_t>(threads));
        QCOMPARE(pool.threads(), static_cast<std::size_t>(threads));
        std::vector<std::atomic<int>> visits(static_cast<std::size_t>(count));
        for (int repeat = 0; repeat < 20; ++repeat) {
            pool.parallelFor(visits.size(), static_cast<std::size_t>(grain), [&](std::size_t begin, std::size_t end) {
                for (std::size_t i = begin; i < end; ++i) ++visits[i];
            });
        }
        for (const auto& visit : visits) QCOMPARE(visit.load(), 20);
    }

    void piecesDependOnCountAndGrainAlone() {
        for (std::size_t threads : {1u, 3u}) {
            ThreadPool pool(threads);
            std::vector<std::atomic<std::size_t>> ends(10);
            pool.parallelFor(10, 4, [&](std::size_t begin, std::size_t end) { ends[begin] = end; });
            QCOMPARE(ends[0].load(), std::size_t{4});
            QCOMPARE(ends[4].load(), std::size_t{8});
            QCOMPARE(ends[8].load(), std::size_t{10});
        }
    }

    void nestedLoopsRunInPlace() {
        ThreadPool pool(2);
        std::atomic<int> sum{0};
        pool.parallelFor(8, 1, [&](std::size_t, std::size_t) {
            const std::thread::id outer = std::this_thread::get_id();
            pool.parallelFor(8, 1,
                             [&](std::size_t, std::size_t) { sum += outer == std::this_thread::get_id() ? 1 : 1000; });
        });
        QCOMPARE(sum.load(), 64);
    }

    void whatAChunkThrowsComesOut() {
        for (std::size_t threads : {1u, 2u}) {
            ThreadPool pool(threads);
            bool caught = false;
            try {
                pool.parallelFor(100, 1, [](std::size_t begin, std::size_t) {
                    if (begin == 37) throw std::bad_alloc();
                });
            } catch (const std::bad_alloc&) {
                caught = true;
            }
            QVERIFY(caught);
            std::atomic<int> after{0};
            pool.parallelFor(5, 1, [&](std::size_t, std::size_t) { ++after; });
            QCOMPARE(after.load(), 5);
        }
    }
};

QTEST_APPLESS_MAIN(TestThreadPool)

}  // namespace tst_thread_pool

#include "tst_thread_pool.moc"
