#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include "core/layout/cache.h"
#include "core/layout/engine/layered.h"
#include "tests/core/layout/box_graphs.h"

namespace tst_layout_cache {

using namespace sonde::layout;
using namespace layout_test;

namespace {

BoxLayout made(const BoxGraph& graph, Engine engine = Engine::Graphviz) {
    BoxLayout layout = *layoutLayered(graph);
    layout.engine = engine;
    return layout;
}

QStringList files(const QTemporaryDir& folder) {
    QStringList found;
    QDirIterator it(folder.path(), QDir::Files, QDirIterator::Subdirectories);
    while (it.hasNext()) found << it.next();
    return found;
}

}  // namespace

class TestLayoutCache : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;
    LayoutCache::Options options() const { return {m_folder.path().toStdString()}; }

  private slots:
    void cleanup() {
        QDir(m_folder.path()).removeRecursively();
        QDir().mkpath(m_folder.path());
    }

    void remembersInMemory() {
        LayoutCache cache({{}, false});
        const BoxGraph graph = residual(3);
        QVERIFY(!cache.find(structuralKey(graph), graph));
        cache.insert(structuralKey(graph), made(graph));
        const auto found = cache.find(structuralKey(graph), graph);
        QVERIFY(found);
        QCOMPARE(*found, made(graph));
        QCOMPARE(cache.counts().memoryHits, std::size_t{1});
        QCOMPARE(cache.counts().misses, std::size_t{1});
        QVERIFY(cache.folder().empty());
    }

    void remembersOnDisk() {
        const BoxGraph graph = residual(3);
        LayoutCache(options()).insert(structuralKey(graph), made(graph));
        LayoutCache other(options());
        const auto found = other.find(structuralKey(graph), graph);
        QVERIFY(found);
        QCOMPARE(*found, made(graph));
        QCOMPARE(other.counts().diskHits, std::size_t{1});
    }

    void layeredLayoutsAreNotWritten() {
        const BoxGraph graph = residual(3);
        LayoutCache(options()).insert(structuralKey(graph), made(graph, Engine::Layered));
        QVERIFY(files(m_folder).isEmpty());
    }

    void damagedFilesAreIgnored() {
        const BoxGraph graph = residual(2);
        const LayoutKey key = structuralKey(graph);
        LayoutCache(options()).insert(key, made(graph));
        const QStringList all = files(m_folder);
        QCOMPARE(all.size(), 1);
        QFile file(all[0]);
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QByteArray good = file.readAll();
        file.close();
        auto write = [&](const QByteArray& bytes) {
            QFile out(all[0]);
            QVERIFY(out.open(QIODevice::WriteOnly | QIODevice::Truncate));
            out.write(bytes);
        };
        for (int i = 0; i < good.size(); i += 7) {
            QByteArray bad = good;
            bad[i] = static_cast<char>(bad[i] ^ 0x20);
            write(bad);
            QVERIFY(!LayoutCache(options()).find(key, graph));
            write(good.left(i));
            QVERIFY(!LayoutCache(options()).find(key, graph));
        }
        write(good);
        QVERIFY(LayoutCache(options()).find(key, graph));
    }

    void answerToAnotherGraphIsIgnored() {
        const BoxGraph graph = residual(2);
        LayoutCache cache(options());
        cache.insert(structuralKey(graph), made(chain(3)));
        QVERIFY(!cache.find(structuralKey(graph), graph));
        QVERIFY(!LayoutCache(options()).find(structuralKey(graph), graph));
    }

    void memoryIsBounded() {
        LayoutCache::Options small{{}, false};
        small.memoryBytes = 20'000;
        LayoutCache cache(small);
        for (std::size_t n = 2; n < 60; ++n) cache.insert(structuralKey(chain(n)), made(chain(n)));
        QVERIFY(!cache.find(structuralKey(chain(2)), chain(2)));
        QVERIFY(cache.find(structuralKey(chain(59)), chain(59)));
    }

    void diskIsBounded() {
        LayoutCache::Options small = options();
        small.diskBytes = 100'000;
        LayoutCache cache(small);
        for (std::size_t n = 2; n < 200; ++n) cache.insert(structuralKey(chain(n)), made(chain(n)));
        qint64 total = 0;
        for (const QString& file : files(m_folder)) total += QFileInfo(file).size();
        QVERIFY(total > 0);
        QVERIFY2(total <= 115'000, qPrintable(QString::number(total)));
    }

    void unwritableFolderIsAsGoodAsNone() {
        LayoutCache::Options bad;
        bad.folder = "/proc/nowhere";
        LayoutCache cache(bad);
        const BoxGraph graph = residual(2);
        cache.insert(structuralKey(graph), made(graph));
        QVERIFY(cache.find(structuralKey(graph), graph));
    }

    void folderFollowsTheEnvironment() {
        qputenv("XDG_CACHE_HOME", "/tmp/some-cache");
        QCOMPARE(LayoutCache().folder(), std::filesystem::path("/tmp/some-cache/sonde/layout"));
        qunsetenv("XDG_CACHE_HOME");
    }
};

QTEST_GUILESS_MAIN(TestLayoutCache)

}  // namespace tst_layout_cache

#include "tst_layout_cache.moc"
