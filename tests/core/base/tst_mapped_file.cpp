// Files that change while they are mapped: reading goes on, and whoever asks hears of it.

#include <QTemporaryDir>
#include <QtTest>

#include <atomic>
#include <csetjmp>
#include <csignal>
#include <numeric>
#include <thread>

#include "core/base/mapped_file.h"
#include "tests/support/changing_file.h"

namespace tst_mapped_file {

using namespace sonde;
using base::MappedFile;
using test::overwriteFile;
using test::replaceFile;

namespace {

std::size_t pageSize() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

std::shared_ptr<const MappedFile> openFile(const QString& path) {
    auto file = MappedFile::open(path.toStdString());
    return file ? *file : nullptr;
}

std::int64_t sumOf(std::span<const std::byte> bytes) {
    return std::accumulate(bytes.begin(), bytes.end(), std::int64_t{0},
                           [](std::int64_t sum, std::byte b) { return sum + std::to_integer<int>(b); });
}

sigjmp_buf foreignJump;
volatile std::sig_atomic_t foreignSignals = 0;

void onForeignSignal(int) {
    foreignSignals = foreignSignals + 1;
    siglongjmp(foreignJump, 1);
}

}  // namespace

class TestMappedFile : public QObject {
    Q_OBJECT

  private slots:
    // Before any file is mapped: this handler is the one that was there before.
    void initTestCase() {
        struct sigaction action {};
        action.sa_handler = onForeignSignal;
        QCOMPARE(sigaction(SIGBUS, &action, nullptr), 0);
        QVERIFY(m_folder.isValid());
        m_path = m_folder.filePath("file");
    }
    void init() { QVERIFY(replaceFile(m_path, std::string(3 * pageSize() + 100, 'a'))); }

    void whatStaysIsUnchanged() {
        const auto file = openFile(m_path);
        QVERIFY(file && !file->hasChanged() && !file->isKnownChanged());
        QCOMPARE(file->bytes()[0], std::byte{'a'});
        QFile other(m_path);
        QVERIFY(other.open(QIODevice::ReadOnly) && other.readAll().size() > 0);  // reading it is no change
        QVERIFY(!file->hasChanged());
        QVERIFY(base::checkUnchanged({file}, "model file").has_value());
    }

    void changes_data() {
        QTest::addColumn<int>("change");
        QTest::newRow("cut off") << 0;
        QTest::newRow("emptied") << 1;
        QTest::newRow("longer") << 2;
        QTest::newRow("overwritten, same size") << 3;
        QTest::newRow("overwritten, its time set back") << 4;
        QTest::newRow("another file in its place") << 5;
        QTest::newRow("deleted") << 6;
        QTest::newRow("its folder moved") << 7;
    }
    void changes() {
        QFETCH(int, change);
        const QString folder = m_folder.filePath("inner");
        QVERIFY(QDir().mkpath(folder));
        const QString path = folder + "/file";
        const QByteArray name = path.toLocal8Bit();
        const std::string content(2 * pageSize(), 'a');
        QVERIFY(replaceFile(path, content));
        const auto file = openFile(path);
        QVERIFY(file && !file->hasChanged());
        struct stat before {};
        QCOMPARE(::stat(name.constData(), &before), 0);
        switch (change) {
            case 0: QCOMPARE(::truncate(name.constData(), 10), 0); break;
            case 1: QCOMPARE(::truncate(name.constData(), 0), 0); break;
            case 2: QCOMPARE(::truncate(name.constData(), static_cast<off_t>(content.size() + 1)), 0); break;
            case 3: QVERIFY(overwriteFile(path, std::string(content.size(), 'b'))); break;
            case 4: {
                QVERIFY(overwriteFile(path, std::string(content.size(), 'b')));
                const timespec times[2] = {before.st_atim, before.st_mtim};
                QCOMPARE(::utimensat(AT_FDCWD, name.constData(), times, 0), 0);
                break;
            }
            case 5: QVERIFY(replaceFile(path, content)); break;
            case 6: QCOMPARE(::unlink(name.constData()), 0); break;
            case 7: QVERIFY(QDir().rename(folder, m_folder.filePath("elsewhere"))); break;
            default: break;
        }
        QVERIFY(file->hasChanged());
        QVERIFY(file->isKnownChanged());
        const auto error = base::checkUnchanged({file}, "model file");
        QVERIFY(!error);
        QCOMPARE(error.error().what, std::string("model file changed on disk"));
        QCOMPARE(error.error().where, path.toStdString());
        QVERIFY(!error.error().hint.empty());
        // What is put back is no longer what was opened.
        QVERIFY(QDir().mkpath(folder) && replaceFile(path, content));
        QVERIFY(file->hasChanged());
        QVERIFY(QDir(folder).removeRecursively());
        QDir(m_folder.filePath("elsewhere")).removeRecursively();
    }

    // Times of files have the grain of the kernel's clock: a change right after opening must not hide in it.
    void aChangeRightAfterOpeningIsSeen() {
        for (int i = 0; i < 100; ++i) {
            QVERIFY(overwriteFile(m_path, std::string(100, static_cast<char>('b' + i % 2))));
            const auto file = openFile(m_path);
            QVERIFY(file);
            QVERIFY(overwriteFile(m_path, std::string(100, 'a')));
            QVERIFY2(file->hasChanged(), qPrintable(QString::number(i)));
        }
    }

    void whatWasCutOffReadsAsZeros() {
        const auto file = openFile(m_path);
        QVERIFY(file);
        QCOMPARE(::truncate(m_path.toLocal8Bit().constData(), static_cast<off_t>(pageSize())), 0);
        QVERIFY(!file->isKnownChanged());  // nobody has looked yet
        QCOMPARE(file->bytes()[3 * pageSize() + 50], std::byte{0});
        QVERIFY(file->isKnownChanged());
        QCOMPARE(sumOf(file->bytes()), 0);
        QVERIFY(openFile(m_path) && !openFile(m_path)->hasChanged());  // the file as it is now
    }

    // The bytes of the last page behind the file's end are zeros without a signal: only its size tells.
    void theTailOfAPageIsLookedAt() {
        QVERIFY(replaceFile(m_path, std::string(1000, 'a')));
        const auto file = openFile(m_path);
        QCOMPARE(::truncate(m_path.toLocal8Bit().constData(), 500), 0);
        QCOMPARE(sumOf(file->bytes()), 500 * 'a');
        QVERIFY(!file->isKnownChanged());
        QVERIFY(file->hasChanged());
    }

    void aDiskThatFailsIsToldApart() {
        const auto file = openFile(m_path);
        QVERIFY(test::makeReadsFail(file->bytes().data() + pageSize(), 1));
        QVERIFY(!file->hasChanged());
        QCOMPARE(file->bytes()[0], std::byte{'a'});
        QCOMPARE(file->bytes()[pageSize()], std::byte{0});
        QVERIFY(file->hasChanged());
        QCOMPARE(base::checkUnchanged({file}, "input file").error().what,
                 std::string("input file can no longer be read from disk"));
    }

    void otherAddressesGoToThePreviousHandler() {
        const auto file = openFile(m_path);  // the handler is there
        const int empty = memfd_create("foreign", MFD_CLOEXEC);
        void* const foreign = mmap(nullptr, pageSize(), PROT_READ, MAP_PRIVATE, empty, 0);
        QVERIFY(foreign != MAP_FAILED);
        foreignSignals = 0;
        if (sigsetjmp(foreignJump, 1) == 0) {
            const char byte = *static_cast<volatile char*>(foreign);
            QFAIL(qPrintable(QString("read %1").arg(int(byte))));
        }
        QCOMPARE(int(foreignSignals), 1);
        // A signal that somebody sends has no address, whatever the structure says.
        if (sigsetjmp(foreignJump, 1) == 0) raise(SIGBUS);
        QCOMPARE(int(foreignSignals), 2);
        QVERIFY(!file->isKnownChanged());
        munmap(foreign, pageSize());
        ::close(empty);
    }

    void addressesFindTheirFile() {
        const auto file = openFile(m_path);
        QCOMPARE(MappedFile::at(file->bytes().data() + 5), file.get());
        QCOMPARE(MappedFile::at(this), nullptr);
        const std::byte* const address = file->bytes().data();
        std::vector<std::shared_ptr<const MappedFile>> many;
        for (int i = 0; i < 700; ++i) many.push_back(openFile(m_path));
        for (const auto& each : many) QCOMPARE(MappedFile::at(each->bytes().data()), each.get());
        QCOMPARE(MappedFile::at(address), file.get());
    }

    // Four threads read their own mappings and open and close others, while the file is cut off and written again.
    void manyThreadsReadWhatIsCutOff() {
        std::atomic<bool> stop{false};
        std::atomic<int> wrong{0}, reads{0};
        const std::string whole(8 * pageSize(), 'a');
        QVERIFY(replaceFile(m_path, whole));
        std::vector<std::thread> readers;
        for (int t = 0; t < 4; ++t) {
            readers.emplace_back([&] {
                while (!stop) {
                    const auto file = openFile(m_path);
                    if (!file) continue;
                    const std::int64_t sum = sumOf(file->bytes());
                    ++reads;
                    if (!file->hasChanged() && sum != static_cast<std::int64_t>(file->sizeBytes()) * 'a') ++wrong;
                }
            });
        }
        const QByteArray name = m_path.toLocal8Bit();
        for (int i = 0; i < 200; ++i) {
            QCOMPARE(::truncate(name.constData(), static_cast<off_t>(i % 7 * 1000)), 0);
            std::this_thread::yield();
            QVERIFY(overwriteFile(m_path, whole));
            if (i % 4 != 0) continue;
            // A file that stays as it is until each reader can have read it.
            for (const int before = reads; reads <= before + 4;) std::this_thread::yield();
        }
        stop = true;
        for (std::thread& reader : readers) reader.join();
        QCOMPARE(wrong.load(), 0);
    }

    void scopesKeepTheirFiles() {
        const base::MappedFilesScope outer;
        const auto first = openFile(m_path);
        {
            const base::MappedFilesScope inner;
            const auto second = openFile(m_path);
            QCOMPARE(inner.files(), base::MappedFiles{second});
        }
        QCOMPARE(outer.files(), base::MappedFiles{first});
    }

  private:
    QTemporaryDir m_folder;
    QString m_path;
};

QTEST_GUILESS_MAIN(TestMappedFile)

}  // namespace tst_mapped_file

#include "tst_mapped_file.moc"
