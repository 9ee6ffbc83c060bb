#pragma once

#include <QByteArray>

#include <mutex>

namespace sonde::canvas {

// The same picture gives the same PDF file, byte for byte, in every process.

/// Random ids that the writer puts into a file are replaced by fixed ones of the same length, so that the offsets in
/// the file stay right; its dates by that of SOURCE_DATE_EPOCH (seconds since 1970), or by nothing.
void fixVolatileParts(QByteArray& pdf);

/// The writer keeps fonts in hash tables and writes them as those are ordered: while this lives, that is the same order
/// in every process. Tables keep the seed that they were made with, so others are not disturbed. One at a time.
class FixedHashOrder {
  public:
    FixedHashOrder();
    ~FixedHashOrder();
    FixedHashOrder(const FixedHashOrder&) = delete;
    FixedHashOrder& operator=(const FixedHashOrder&) = delete;

  private:
    std::lock_guard<std::mutex> m_lock;
};

}  // namespace sonde::canvas
