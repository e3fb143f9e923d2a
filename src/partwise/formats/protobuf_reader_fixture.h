#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace partwise::formats {

// One field of a message as the tests read it back, without the writer's code.
struct ProtobufField {
  uint64_t number = 0;
  uint64_t wire = 0;
  uint64_t value = 0;     // wire type 0
  std::string_view body;  // wire types 1, 2 and 5
};

// The fields of a message; throws where lengths do not add up to exactly the bytes there are.
inline std::vector<ProtobufField> protobuf_fields(std::string_view bytes) {
  const auto take_varint = [&bytes] {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (bytes.empty()) throw std::runtime_error("the bytes end inside a varint");
      const auto byte = static_cast<unsigned char>(bytes.front());
      bytes.remove_prefix(1);
      value |= static_cast<uint64_t>(byte & 0x7FU) << shift;
      if (byte < 0x80U) return value;
    }
    throw std::runtime_error("a varint of more than ten bytes");
  };
  std::vector<ProtobufField> fields;
  while (!bytes.empty()) {
    const auto tag = take_varint();
    ProtobufField field{tag >> 3U, tag & 7U, 0, {}};
    if (field.wire == 0) {
      field.value = take_varint();
    } else if (field.wire == 1 || field.wire == 2 || field.wire == 5) {
      const auto length = field.wire == 5 ? 4 : field.wire == 1 ? 8 : take_varint();
      if (length > bytes.size()) throw std::runtime_error("a field longer than its message");
      field.body = bytes.substr(0, length);
      bytes.remove_prefix(length);
    } else {
      throw std::runtime_error("a wire type no schema of ours uses");
    }
    fields.push_back(field);
  }
  return fields;
}

inline std::vector<ProtobufField> protobuf_fields(std::string_view bytes, uint64_t number) {
  auto fields = protobuf_fields(bytes);
  std::erase_if(fields, [&](const ProtobufField& field) { return field.number != number; });
  return fields;
}

// The text of the first field of that number; empty where there is none.
inline std::string protobuf_text(std::string_view bytes, uint64_t number) {
  const auto fields = protobuf_fields(bytes, number);
  return fields.empty() ? "" : std::string(fields.front().body);
}

}  // namespace partwise::formats
